# react_layer(NAME [PLUG_INS FOLDER ...] [LIBRARIES ...] [PRIVATE_LIBRARIES ...])
#
# One static library react_NAME from the *.cpp of the calling folder, but for the plug-ins' folders, and one test binary
# react_NAME_test from its *_test.cpp. Warnings are errors.
#
# react_plug_in(NAME LIBRARY ...)
#
# One loadable module libreact-NAME.so from the *.cpp of the calling folder, in lib/react beside the react binary. The
# global property REACT_PLUG_INS lists their targets.

set(REACT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)

# The release preset leaves the binary at build/react; every other build keeps its own.
set(REACT_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(PROJECT_BINARY_DIR STREQUAL "${PROJECT_SOURCE_DIR}/build/release")
  set(REACT_OUTPUT_DIRECTORY ${PROJECT_SOURCE_DIR}/build)
endif()

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
  cmake_parse_arguments(LAYER "" "" "PLUG_INS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(folder ${LAYER_PLUG_INS})
    list(FILTER all EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
  endforeach()
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
                         PROPERTIES TIMEOUT 300 ENVIRONMENT "REACT_PLUG_INS=${REACT_OUTPUT_DIRECTORY}/lib/react")
  endif()
endfunction()

function(react_plug_in name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(react_plug_in_${name} MODULE ${sources})
  react_compile_options(react_plug_in_${name})
  target_link_libraries(react_plug_in_${name} PRIVATE tl::expected ${ARGN})
  set_target_properties(react_plug_in_${name} PROPERTIES
    OUTPUT_NAME react-${name} CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${REACT_OUTPUT_DIRECTORY}/lib/react)
  install(TARGETS react_plug_in_${name} LIBRARY DESTINATION lib/react)
  set_property(GLOBAL APPEND PROPERTY REACT_PLUG_INS react_plug_in_${name})
endfunction()
