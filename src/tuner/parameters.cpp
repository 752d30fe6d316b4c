#include "tuner/parameters.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>

#include "tuner/parameter_fields.h"

namespace react::tuner {
namespace {

constexpr std::size_t kMaxTextBytes = 64 << 10;
constexpr Policy kPolicies[] = {Policy::kOff, Policy::kBest, Policy::kPaper};

tl::unexpected<Error> out_of_range(std::string_view name, auto least, auto most) {
  return invalid(fmt::format("parameter {} must be in [{}, {}]", name, least, most));
}

std::string known_keys() {
  std::string keys = "policy, deterministic, seed";
  for (const IntegerField& field : kIntegerFields) keys += fmt::format(", {}", field.name);
  for (const RealField& field : kRealFields) keys += fmt::format(", {}", field.name);
  return keys;
}

Result<void> set_integer(Parameters& parameters, const IntegerField& field, const toml::node& value) {
  const auto number = value.value_exact<std::int64_t>();
  if (!number) return invalid(fmt::format("parameter {} must be an integer", field.name));
  if (*number < field.least || *number > field.most) return out_of_range(field.name, field.least, field.most);
  parameters.*field.member = static_cast<std::int32_t>(*number);
  return {};
}

Result<void> set_real(Parameters& parameters, const RealField& field, const toml::node& value) {
  const auto number = value.value<double>();
  if (!number || value.is_boolean()) return invalid(fmt::format("parameter {} must be a number", field.name));
  if (!(*number >= field.least && *number <= field.most))
    return out_of_range(field.name, field.least, field.most);
  parameters.*field.member = *number;
  return {};
}

Result<void> set_other(Parameters& parameters, std::string_view name, const toml::node& value) {
  if (name == "policy") {
    const auto text = value.value_exact<std::string>();
    if (!text) return invalid("parameter policy must be a string: \"off\", \"best\" or \"paper\"");
    const auto policy = policy_from_name(*text);
    if (!policy) return tl::unexpected(policy.error());
    parameters.policy = *policy;
    return {};
  }
  if (name == "deterministic") {
    const auto flag = value.value_exact<bool>();
    if (!flag) return invalid("parameter deterministic must be true or false");
    parameters.deterministic = *flag;
    return {};
  }
  if (name == "seed") {
    const auto number = value.value_exact<std::int64_t>();
    if (!number || *number < 0) return invalid("parameter seed must be an integer in [0, 2^63 - 1]");
    parameters.seed = static_cast<std::uint64_t>(*number);
    return {};
  }
  return invalid(
      fmt::format("unknown parameter {:?}; there are: {}", std::string(name.substr(0, 64)), known_keys()));
}

Result<void> set(Parameters& parameters, std::string_view name, const toml::node& value) {
  for (const IntegerField& field : kIntegerFields)
    if (name == field.name) return set_integer(parameters, field, value);
  for (const RealField& field : kRealFields)
    if (name == field.name) return set_real(parameters, field, value);
  return set_other(parameters, name, value);
}

}  // namespace

std::string_view name_of(Policy policy) {
  switch (policy) {
    case Policy::kOff:
      return "off";
    case Policy::kBest:
      return "best";
    case Policy::kPaper:
      return "paper";
  }
  return "?";
}

Result<Policy> policy_from_name(std::string_view name) {
  for (const Policy policy : kPolicies)
    if (name == name_of(policy)) return policy;
  return invalid("policy must be \"off\", \"best\" or \"paper\"");
}

Result<void> validate(const Parameters& parameters) {
  for (const IntegerField& field : kIntegerFields)
    if (parameters.*field.member < field.least || parameters.*field.member > field.most)
      return out_of_range(field.name, field.least, field.most);
  for (const RealField& field : kRealFields)
    if (!(parameters.*field.member >= field.least && parameters.*field.member <= field.most))
      return out_of_range(field.name, field.least, field.most);
  return {};
}

Result<Parameters> parameters_from_toml(std::string_view text, Parameters defaults) {
  if (text.size() > kMaxTextBytes)
    return invalid(fmt::format("parameters: more than {} bytes of TOML", kMaxTextBytes));
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return invalid(fmt::format("parameters: line {}: {}", error.source().begin.line, error.description()));
  }
  for (const auto& [key, value] : table)
    if (auto done = set(defaults, key.str(), value); !done) return tl::unexpected(done.error());
  return defaults;
}

Result<Parameters> with_override(Parameters parameters, std::string_view assignment) {
  const bool printable =
      std::all_of(assignment.begin(), assignment.end(), [](char c) { return c >= ' ' && c <= '~'; });
  const std::size_t equals = assignment.find('=');
  if (!printable || equals == std::string_view::npos || equals == 0)
    return invalid("an override has the form NAME=VALUE, for example batch_epochs=8");
  std::string_view name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  if (name == "policy" && !value.starts_with('"')) {
    const auto policy = policy_from_name(value);
    if (!policy) return tl::unexpected(policy.error());
    parameters.policy = *policy;
    return parameters;
  }
  return parameters_from_toml(fmt::format("{} = {}", name, value), parameters);
}

std::string to_toml(const Parameters& parameters) {
  std::string text = fmt::format("policy = \"{}\"\n", name_of(parameters.policy));
  for (const IntegerField& field : kIntegerFields)
    text += fmt::format("{} = {}\n", field.name, parameters.*field.member);
  for (const RealField& field : kRealFields)
    text += fmt::format("{} = {}\n", field.name, parameters.*field.member);
  text += fmt::format("deterministic = {}\nseed = {}\n", parameters.deterministic, parameters.seed);
  return text;
}

}  // namespace react::tuner
