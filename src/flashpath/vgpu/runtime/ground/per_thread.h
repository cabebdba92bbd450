// Whether the present call was compiled for default streams that are each thread's own.
#pragma once

namespace flashpath::runtime {

bool asks_for_own_stream();
void forget_own_stream();  // at the end of each call

}  // namespace flashpath::runtime
