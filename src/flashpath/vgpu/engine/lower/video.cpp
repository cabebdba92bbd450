// The video instructions: vadd … vmad on parts of registers, vadd2 … and vadd4 … on all of them at once.
#include "program/video.h"

#include <string>
#include <unordered_map>

#include "lower/instructions.h"

namespace flashpath::lower {
namespace {

using program::Video;
using program::VideoOperation;
using program::VideoPart;
using program::VideoRelation;
using program::VideoSecond;

VideoPart part_of(const Builder& b, const Operand& operand) {
  switch (operand.component) {
    case ptx::Component::kWhole: return VideoPart::kWhole;
    case ptx::Component::kB0: return VideoPart::kB0;
    case ptx::Component::kB1: return VideoPart::kB1;
    case ptx::Component::kB2: return VideoPart::kB2;
    case ptx::Component::kB3: return VideoPart::kB3;
    case ptx::Component::kH0: return VideoPart::kH0;
    case ptx::Component::kH1: return VideoPart::kH1;
    default: b.refuse("vgpu.ptx.notation-expected", {{"expected", ".b0 | .b1 | .b2 | .b3 | .h0 | .h1"}});
  }
}

bool take_sign(const Builder& b, Modifiers& m) {
  const std::string type = m.take_type();
  if (type != "s32" && type != "u32") b.refuse("vgpu.ptx.notation-expected", {{"expected", ".s32 | .u32"}});
  return type == "s32";
}

void take_relation(Modifiers& m, Video& v) {
  static const auto& kRelations = *new std::unordered_map<std::string_view, VideoRelation>{
      {"eq", VideoRelation::kEq}, {"ne", VideoRelation::kNe}, {"lt", VideoRelation::kLt},
      {"le", VideoRelation::kLe}, {"gt", VideoRelation::kGt}, {"ge", VideoRelation::kGe}};
  const auto found = kRelations.find(m.take_one({"eq", "ne", "lt", "le", "gt", "ge"}));
  if (found != kRelations.end()) v.relation = found->second;
}

void take_second(Modifiers& m, Video& v) {
  const std::string_view second = m.take_one({"add", "min", "max"});
  if (second == "add") v.second = VideoSecond::kAdd;
  if (second == "min") v.second = VideoSecond::kMin;
  if (second == "max") v.second = VideoSecond::kMax;
}

void emit_video(Builder& b, const std::string& name, Video v) {
  v.d = part_of(b, operand(b, 0));
  v.a = part_of(b, operand(b, 1));
  v.b = part_of(b, operand(b, 2));
  const u32 x = b.source(operand(b, 1), 4);
  const u32 y = b.source(operand(b, 2), 4);
  const u32 z = b.operands().size() > 3 ? b.source(operand(b, 3), 4) : b.constant(4, 0);
  const u32 d = b.destination(operand(b, 0), 4);
  Instruction& i = b.emit(name);
  i.dst[0] = d;
  i.a[0] = x;
  i.b[0] = y;
  i.c[0] = z;
  i.modifier = program::packed(v);
}

}  // namespace

void video(Builder& b) {
  static const auto& kOperations = *new std::unordered_map<std::string_view, VideoOperation>{
      {"vadd", VideoOperation::kAdd},     {"vsub", VideoOperation::kSub}, {"vabsdiff", VideoOperation::kAbsdiff},
      {"vavrg", VideoOperation::kAverage}, {"vmin", VideoOperation::kMin}, {"vmax", VideoOperation::kMax},
      {"vshl", VideoOperation::kShl},     {"vshr", VideoOperation::kShr}, {"vset", VideoOperation::kSet}};
  std::string_view opcode = b.current->opcode;
  std::string name = "video";
  if (opcode.ends_with("2") || opcode.ends_with("4")) {
    name += opcode.back();
    opcode.remove_suffix(1);
  }
  Video v;
  v.operation = kOperations.at(opcode);
  Modifiers m(b);
  take_second(m, v);
  v.wraps = m.take("wrap");
  m.take("clamp");
  v.saturates = m.take("sat");
  take_relation(m, v);
  v.b_signed = take_sign(b, m);
  v.a_signed = take_sign(b, m);
  if (v.operation != VideoOperation::kSet) v.d_signed = take_sign(b, m);
  m.all_taken();
  emit_video(b, name, v);
}

void video_multiply_add(Builder& b) {
  Video v;
  Modifiers m(b);
  v.saturates = m.take("sat");
  v.plus_one = m.take("po");
  if (m.take("shr7")) v.scale = 7;
  if (m.take("shr15")) v.scale = 15;
  v.b_signed = take_sign(b, m);
  v.a_signed = take_sign(b, m);
  v.d_signed = take_sign(b, m);
  m.all_taken();
  emit_video(b, "vmad", v);
}

}  // namespace flashpath::lower
