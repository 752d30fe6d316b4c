# react_layer(NAME [LIBRARIES ...] [PRIVATE_LIBRARIES ...])
#
# One static library react_NAME from the *.cpp of the calling folder, and one test binary react_NAME_test
# from its *_test.cpp. Warnings are errors.

set(REACT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)

function(react_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE ${REACT_WARNINGS})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  if(REACT_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${REACT_SANITIZE} -fno-sanitize-recover=all
                                            -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${REACT_SANITIZE})
  endif()
  if(REACT_FUZZERS)
    target_compile_options(${target} PUBLIC -fsanitize=fuzzer-no-link)
  endif()
endfunction()

function(react_layer name)
  cmake_parse_arguments(LAYER "" "" "LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${all})
  list(FILTER all EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  add_library(react_${name} STATIC ${all})
  react_compile_options(react_${name})
  target_link_libraries(react_${name} PUBLIC ${LAYER_LIBRARIES} PRIVATE ${LAYER_PRIVATE_LIBRARIES})
  if(REACT_TESTS AND tests)
    add_executable(react_${name}_test ${tests})
    react_compile_options(react_${name}_test)
    target_link_libraries(react_${name}_test PRIVATE react_${name} ${LAYER_PRIVATE_LIBRARIES} GTest::gtest_main)
    gtest_discover_tests(react_${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT 300)
  endif()
endfunction()
