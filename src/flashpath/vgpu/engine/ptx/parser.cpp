#include "ptx/parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "ptx/grammar.h"

namespace flashpath::ptx {

Module parse(std::string_view text) { return parse_linked({text}); }

Module parse_linked(const std::vector<std::string_view>& texts) {
  constexpr size_t kLongest = size_t{1} << 30;  // so that every count fits 32 bits
  std::string all;
  for (std::string_view text : texts) {
    while (text.ends_with('\0')) text.remove_suffix(1);  // NVRTC counts the end of its string
    if (text.size() > kLongest - all.size()) throw Error({1, 1}, "vgpu.ptx.text-too-long");
    all.append(text);
    if (texts.size() > 1) all += '\n';
  }
  return Grammar(std::make_shared<const std::string>(std::move(all)), texts.size() > 1).parse_module();
}

Grammar::Grammar(std::shared_ptr<const std::string> text, bool is_linked)
    : text_(std::move(text)), lexer_(*text_), is_linked_(is_linked) {
  module_.text = text_;
  advance();
}

// ---- Tokens ----------------------------------------------------------------------------------------------

bool Grammar::accept(uint16_t wanted) {
  if (!at(wanted)) return false;
  advance();
  return true;
}

bool Grammar::accept_directive(std::string_view name) {
  if (!at_directive(name)) return false;
  advance();
  return true;
}

void Grammar::expect(uint16_t wanted) {
  if (accept(wanted)) return;
  const char characters[] = {static_cast<char>(wanted & 0xFF), static_cast<char>(wanted >> 8)};
  fail(token_.place,
       {"vgpu.ptx.got-instead", {got(token_), {"expected", quoted({characters, wanted > 0xFF ? 2u : 1u})}}});
}

std::string_view Grammar::expect_identifier(const char* what) {
  if (!at(TokenKind::kIdentifier)) fail_expected(what);
  const std::string_view name = token_.text;
  advance();
  return name;
}

std::string_view Grammar::expect_string() {
  if (!at(TokenKind::kString)) fail_expected("vgpu.ptx.string");
  const std::string_view text = token_.text.substr(1, token_.text.size() - 2);
  advance();
  return text;
}

uint32_t Grammar::expect_uint32(const char* what) {
  uint32_t value = 0;
  const std::string_view text = token_.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!at(TokenKind::kNumber) || error != std::errc() || end != text.data() + text.size()) fail_expected(what);
  advance();
  return value;
}

void Grammar::fail_expected(const Message& expected) const {
  fail(token_.place, {"vgpu.ptx.got-instead", {got(token_), {"expected", expected}}});
}

void Grammar::fail(Place place, const Message& problem) { throw Error(place, problem); }

Grammar::Nested::Nested(Grammar& grammar) : grammar_(grammar) {
  constexpr int kDeepest = 100;
  if (grammar_.nesting_ >= kDeepest) {
    fail(grammar_.token_.place, {"vgpu.ptx.nested-too-deeply", {{"most", kDeepest}}});
  }
  ++grammar_.nesting_;
}

// ---- The module ------------------------------------------------------------------------------------------

Module Grammar::parse_module() {
  parse_header();
  while (!at(TokenKind::kEnd)) {
    if (is_linked_ && at_directive(".version")) {
      begin_next_text();
    } else {
      parse_top_level();
    }
  }
  resolve_initialisers();
  return std::move(module_);
}

// Its files are numbered from 1 again.
void Grammar::begin_next_text() {
  for (const File& file : module_.files) first_file_ = std::max(first_file_, file.index + 1);
  module_.target.clear();
  parse_header();
}

void Grammar::parse_header() {
  if (!accept_directive(".version")) fail_expected("vgpu.ptx.version-first");
  const std::string_view text = token_.text;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, module_.version_major);
  const bool dotted = at(TokenKind::kNumber) && major.ec == std::errc() && major.ptr < end && *major.ptr == '.';
  const auto minor = std::from_chars(dotted ? major.ptr + 1 : end, end, module_.version_minor);
  if (!dotted || minor.ec != std::errc() || minor.ptr != end) fail_expected("vgpu.ptx.version");
  advance();
  if (!accept_directive(".target")) fail_expected("vgpu.ptx.target-second");
  do {
    module_.target.push_back(expect_identifier("vgpu.ptx.target"));
  } while (accept(sign(',')));
  if (accept_directive(".address_size")) module_.address_size = expect_uint32("vgpu.ptx.address-size");
}

void Grammar::parse_top_level() {
  if (!at(TokenKind::kDotted)) fail_expected("vgpu.ptx.directive");
  if (at_directive(".file")) return parse_file();
  if (at_directive(".section")) return parse_section();
  if (at_directive(".alias")) return parse_alias();
  if (at_directive(".pragma")) {
    for (std::string_view text : parse_pragma()) module_.pragmas.push_back(text);
    return;
  }
  const Linkage linkage = parse_linkage();
  if (at_directive(".entry") || at_directive(".func")) return parse_function(linkage);
  if (accept_directive(".global")) return parse_variables(Space::kGlobal, linkage);
  if (accept_directive(".const")) return parse_variables(Space::kConst, linkage);
  if (accept_directive(".shared")) return parse_variables(Space::kShared, linkage);
  if (accept_directive(".local")) return parse_variables(Space::kLocal, linkage);
  if (linkage != Linkage::kInternal) fail_expected("vgpu.ptx.after-linkage");
  fail(token_.place, {"vgpu.ptx.directive-of-module", {got(token_)}});
}

// Files of a module are numbered from 1; those of linked modules follow each other.
uint32_t Grammar::parse_file_number() {
  constexpr uint32_t kMostFiles = 1 << 20;
  const Token start = token_;
  const uint32_t number = expect_uint32("vgpu.ptx.file-number");
  if (number > kMostFiles || first_file_ > kMostFiles) {
    fail(start.place, {"vgpu.ptx.file-number-is", {{"number", number}, {"most", kMostFiles}}});
  }
  return first_file_ + number;
}

void Grammar::parse_file() {
  advance();
  File file;
  file.index = parse_file_number();
  file.path = expect_string();
  if (accept(sign(','))) {  // when it was changed, and its size
    parse_size("vgpu.ptx.time");
    expect(sign(','));
    parse_size("vgpu.ptx.size");
  }
  module_.files.push_back(file);
}

void Grammar::parse_section() {
  advance();
  Section section;
  if (!at(TokenKind::kDotted) && !at(TokenKind::kIdentifier)) fail_expected("vgpu.ptx.section-name");
  section.name = token_.text;
  advance();
  if (!at(sign('{'))) fail_expected("vgpu.ptx.open-brace");
  const char* first = token_.text.data() + 1;
  do {
    advance();
    if (at(TokenKind::kEnd) || at(sign('{'))) fail_expected("vgpu.ptx.section-end");
  } while (!at(sign('}')));
  section.body = {first, static_cast<size_t>(token_.text.data() - first)};
  module_.sections.push_back(section);
  advance();
}

void Grammar::parse_alias() {
  advance();
  const auto function = [this] {
    const Token token = token_;
    const Symbol* found = find_global(expect_identifier("vgpu.ptx.function"));
    if (!found || found->kind != SymbolKind::kFunction) {
      fail(token.place, {"vgpu.ptx.function-not-declared", {got(token)}});
    }
    return found->index;
  };
  Alias alias;
  alias.alias = function();
  expect(sign(','));
  alias.target = function();
  expect(sign(';'));
  module_.aliases.push_back(alias);
}

std::vector<std::string_view> Grammar::parse_pragma() {
  advance();
  std::vector<std::string_view> texts;
  do {
    texts.push_back(expect_string());
  } while (accept(sign(',')));
  expect(sign(';'));
  return texts;
}

Linkage Grammar::parse_linkage() {
  static constexpr std::pair<std::string_view, Linkage> kLinkages[] = {{".visible", Linkage::kVisible},
                                                                       {".extern", Linkage::kExtern},
                                                                       {".weak", Linkage::kWeak},
                                                                       {".common", Linkage::kCommon}};
  for (const auto& [name, linkage] : kLinkages) {
    if (accept_directive(name)) return linkage;
  }
  return Linkage::kInternal;
}

const Symbol* Grammar::find_global(std::string_view name) const {
  const auto found = globals_.find(name);
  return found == globals_.end() ? nullptr : &found->second;
}

void Grammar::resolve_initialisers() {
  for (const SymbolUse& use : symbol_uses_) {
    const Symbol* found = find_global(use.name);
    if (!found) fail_unknown(use.name, use.place);
    module_.variables[use.variable].initialiser[use.value].symbol = *found;
  }
}

}  // namespace flashpath::ptx
