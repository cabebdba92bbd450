// How an exported library says what is wrong: sentences with places to fill, and the exception that carries them.
// The sentences themselves stand in the namespace `words`, which is written for each library.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace exported {

struct Problem {
  const char* kind;  // the Python exception that TVM-FFI makes of it
  std::string text;
};

inline std::string filled(std::string_view sentence,
                          std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string text;
  while (!sentence.empty()) {
    const std::size_t open = sentence.find('{');
    const std::size_t close = open == std::string_view::npos ? open : sentence.find('}', open);
    if (close == std::string_view::npos) break;
    text += sentence.substr(0, open);
    const std::string_view name = sentence.substr(open + 1, close - open - 1);
    for (const auto& [key, value] : values) {
      if (key == name) text += value;
    }
    sentence.remove_prefix(close + 1);
  }
  return text.append(sentence);
}

}  // namespace exported
