// Operations that treat every lane alike: a lambda from operand values to the result, made into a handler.
#pragma once

#include <string>

#include "exec/operations.h"
#include "machine/warp.h"

namespace flashpath::exec {

template <class D, class A, class F>
void run_unary(Warp& warp, const Instruction& instruction) {
  const A* a = lanes<A>(warp, instruction.a[0]);
  assign<D>(warp, instruction, [a](int lane) { return static_cast<D>(F{}(a[lane])); });
}

template <class D, class A, class B, class F>
void run_binary(Warp& warp, const Instruction& instruction) {
  const A* a = lanes<A>(warp, instruction.a[0]);
  const B* b = lanes<B>(warp, instruction.b[0]);
  assign<D>(warp, instruction, [a, b](int lane) { return static_cast<D>(F{}(a[lane], b[lane])); });
}

template <class D, class A, class B, class C, class F>
void run_ternary(Warp& warp, const Instruction& instruction) {
  const A* a = lanes<A>(warp, instruction.a[0]);
  const B* b = lanes<B>(warp, instruction.b[0]);
  const C* c = lanes<C>(warp, instruction.c[0]);
  assign<D>(warp, instruction,
            [a, b, c](int lane) { return static_cast<D>(F{}(a[lane], b[lane], c[lane])); });
}

template <class D, class A, class F>
void unary(Registry& registry, const std::string& name, F) {
  registry.add(name, &run_unary<D, A, F>);
}

template <class D, class A, class B, class F>
void binary(Registry& registry, const std::string& name, F) {
  registry.add(name, &run_binary<D, A, B, F>);
}

template <class D, class A, class B, class C, class F>
void ternary(Registry& registry, const std::string& name, F) {
  registry.add(name, &run_ternary<D, A, B, C, F>);
}

}  // namespace flashpath::exec
