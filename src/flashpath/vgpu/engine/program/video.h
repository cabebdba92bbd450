// The video instructions, as `Instruction::modifier` holds them.
#pragma once

#include "program/types.h"

namespace flashpath::program {

enum class VideoOperation : u32 { kAdd, kSub, kAbsdiff, kAverage, kMin, kMax, kShl, kShr, kSet };
enum class VideoSecond : u32 { kNone, kAdd, kMin, kMax };            // what is done with the operand c
enum class VideoRelation : u32 { kEq, kNe, kLt, kLe, kGt, kGe };     // of vset
enum class VideoPart : u32 { kWhole, kB0, kB1, kB2, kB3, kH0, kH1 };  // of a 32-bit operand

struct Video {
  VideoOperation operation = VideoOperation::kAdd;
  VideoSecond second = VideoSecond::kNone;
  VideoRelation relation = VideoRelation::kEq;
  VideoPart d = VideoPart::kWhole;
  VideoPart a = VideoPart::kWhole;
  VideoPart b = VideoPart::kWhole;
  bool d_signed = false;
  bool a_signed = false;
  bool b_signed = false;
  bool saturates = false;
  bool wraps = false;     // vshl, vshr: the amount modulo 32 instead of at most 32
  bool plus_one = false;  // vmad
  u32 scale = 0;          // vmad: the sum is shifted right by so much, at most 15
};

constexpr u32 packed(const Video& v) {
  return u32(v.operation) | u32(v.second) << 4 | u32(v.relation) << 6 | u32(v.d) << 9 | u32(v.a) << 12 |
         u32(v.b) << 15 | u32(v.d_signed) << 18 | u32(v.a_signed) << 19 | u32(v.b_signed) << 20 |
         u32(v.saturates) << 21 | u32(v.wraps) << 22 | u32(v.plus_one) << 23 | v.scale << 24;
}

constexpr Video video_of(u32 modifier) {
  const auto field = [modifier](u32 position, u32 length) { return modifier >> position & ((1u << length) - 1); };
  Video v;
  v.operation = VideoOperation(field(0, 4));
  v.second = VideoSecond(field(4, 2));
  v.relation = VideoRelation(field(6, 3));
  v.d = VideoPart(field(9, 3));
  v.a = VideoPart(field(12, 3));
  v.b = VideoPart(field(15, 3));
  v.d_signed = field(18, 1);
  v.a_signed = field(19, 1);
  v.b_signed = field(20, 1);
  v.saturates = field(21, 1);
  v.wraps = field(22, 1);
  v.plus_one = field(23, 1);
  v.scale = field(24, 4);
  return v;
}

}  // namespace flashpath::program
