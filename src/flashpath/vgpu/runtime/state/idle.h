// A GPU works while the host does something else. Here work waits until the host asks for it; a host that waits by
// other means than a call, such as by reading a flag in mapped memory, never would. So a thread looks now and then
// whether the host has made no call for a while, and does what there is to do.
#pragma once

namespace flashpath::runtime {

class Runtime;

// Once for all; the thread ends with the program.
void work_while_host_is_idle(Runtime& runtime);

}  // namespace flashpath::runtime
