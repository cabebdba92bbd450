// What the program's user reads on stderr: messages become sentences by the templates that `flashpath run` gives, in the
// language that is spoken (flashpath.messages says what a template may have).
#pragma once

#include <map>
#include <string>

#include "messages/message.h"

namespace flashpath::runtime {

class Speech {
 public:
  void add(const std::string& code, const std::string& sentence) { templates_[code] = sentence; }
  // A message without a template is told as it is.
  std::string text(const Message& message) const;

 private:
  std::string filled(const Message& message, std::string_view field) const;

  std::map<std::string, std::string> templates_;
};

// Writes a line of its own to stderr, in the language of this run.
void tell(const Message& message);

}  // namespace flashpath::runtime
