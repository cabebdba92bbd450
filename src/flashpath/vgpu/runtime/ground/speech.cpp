#include "ground/speech.h"

namespace flashpath::runtime {
namespace {

std::string counted(std::uint64_t number, std::string_view form) {
  if (form.empty()) return std::to_string(number);
  const std::size_t slash = form.find('/');
  const std::string one(form.substr(1, slash == std::string_view::npos ? slash : slash - 1));
  const std::string many = slash == std::string_view::npos ? one + "s" : std::string(form.substr(slash + 1));
  return (form[0] == '~' ? std::to_string(number) + " " : "") + (number == 1 ? one : many);
}

}  // namespace

std::string Speech::text(const Message& message) const {
  const auto found = templates_.find(message.code);
  if (found == templates_.end()) return message.json();
  std::string said;
  const std::string_view given = found->second;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const bool is_doubled = k + 1 < given.size() && given[k + 1] == given[k];
    if ((given[k] == '{' || given[k] == '}') && is_doubled) {
      said += given[k++];
    } else if (given[k] == '{') {
      const std::size_t end = given.find('}', k);
      said += filled(message, given.substr(k + 1, end - k - 1));
      k = end;
    } else {
      said += given[k];
    }
  }
  return said;
}

// `name`, `name:~thread` or `name:?is/are`.
std::string Speech::filled(const Message& message, std::string_view field) const {
  const std::size_t colon = field.find(':');
  const std::string_view form = colon == std::string_view::npos ? std::string_view() : field.substr(colon + 1);
  for (const MessageParameter& each : message.parameters) {
    if (each.name != field.substr(0, colon)) continue;
    if (const auto* words = std::get_if<std::string>(&each.value)) return *words;
    if (const auto* number = std::get_if<std::uint64_t>(&each.value)) return counted(*number, form);
    return text(std::get<std::vector<Message>>(each.value).front());
  }
  return std::string(field);
}

}  // namespace flashpath::runtime
