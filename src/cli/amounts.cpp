#include "cli/amounts.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace react::cli {
namespace {

// A number of at least 0, then K, M, G or T (either case) in powers of `base`. What follows goes to `rest`.
Result<std::int64_t> parse_scaled(const std::string& text, double base, std::string_view& rest) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  rest = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || !(number >= 0)) return invalid("not a number");
  if (!rest.empty()) {
    const auto power = std::string_view("KMGT").find(static_cast<char>(rest[0] & ~0x20));
    if (power != std::string_view::npos) {
      number *= std::pow(base, static_cast<double>(power + 1));
      rest.remove_prefix(1);
    }
  }
  if (number > 1e18 || number != std::floor(number)) return invalid("not a whole number in range");
  return static_cast<std::int64_t>(number);
}

}  // namespace

Result<Bytes> parse_size(const std::string& text) {
  std::string_view rest;
  auto count = parse_scaled(text, 1024, rest);
  if (!count || !(rest.empty() || rest == "B" || rest == "iB")) {
    return invalid("'" + text +
                   "' is not a size; write bytes, or a number with K, M or G (powers of 1024), as in 20M");
  }
  return Bytes{*count};
}

Result<std::int64_t> parse_rate(const std::string& text) {
  std::string_view rest;
  auto rate = parse_scaled(text, 1000, rest);
  if (!rate || !(rest.empty() || rest == "bit" || rest == "bit/s")) {
    return invalid(
        "'" + text +
        "' is not a rate; write bits per second, or a number with K, M or G (powers of 1000), as in 500M");
  }
  return *rate;
}

}  // namespace react::cli
