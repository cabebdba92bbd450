#include "ptx/words.h"

#include <array>

namespace flashpath::ptx {
namespace {

// Each in the order of its enumeration.
constexpr std::array<std::string_view, 20> kTypes = {
    "b8", "b16", "b32", "b64", "b128", "u8",    "u16",  "u32",    "u64", "s8",
    "s16", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "pred",
};
constexpr std::array<std::string_view, 7> kSpaces = {"generic", "reg", "param", "local", "shared", "global", "const"};
constexpr std::array<std::string_view, 11> kComponents = {"", "x", "y", "z", "w", "b0", "b1", "b2", "b3", "h0", "h1"};

static_assert(kTypes.size() == static_cast<size_t>(Type::kPred) + 1);
static_assert(kSpaces.size() == static_cast<size_t>(Space::kConst) + 1);
static_assert(kComponents.size() == static_cast<size_t>(Component::kH1) + 1);

template <class Enum, size_t n>
std::optional<Enum> find(const std::array<std::string_view, n>& words, std::string_view word) {
  for (size_t i = 0; i < n; ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Type type) { return kTypes[static_cast<size_t>(type)]; }
std::string_view name_of(Space space) { return kSpaces[static_cast<size_t>(space)]; }
std::string_view name_of(Component component) { return kComponents[static_cast<size_t>(component)]; }

std::optional<Type> type_named(std::string_view word) { return find<Type>(kTypes, word); }
std::optional<Space> space_named(std::string_view word) { return find<Space>(kSpaces, word); }

std::optional<Component> component_named(std::string_view word) {
  if (word.size() == 1) {  // colours are coordinates
    constexpr std::string_view kColours = "rgba";
    const size_t colour = kColours.find(word[0]);
    if (colour != std::string_view::npos) word = kComponents[colour + 1];
  }
  return word.empty() ? std::nullopt : find<Component>(kComponents, word);
}

}  // namespace flashpath::ptx
