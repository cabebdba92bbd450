// How PTX spells types, spaces and components.
#pragma once

#include <optional>
#include <string_view>

#include "ptx/ast.h"

namespace flashpath::ptx {

std::string_view name_of(Type type);
std::string_view name_of(Space space);
std::string_view name_of(Component component);  // empty for a whole register

// Without the dot; empty for a word that names none.
std::optional<Type> type_named(std::string_view word);
std::optional<Space> space_named(std::string_view word);
std::optional<Component> component_named(std::string_view word);

}  // namespace flashpath::ptx
