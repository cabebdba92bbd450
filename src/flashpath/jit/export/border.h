// The border to TVM-FFI: what it calls, and what of its own functions an exported library uses.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "call.h"

namespace exported {

// A function of TVM-FFI's library, which whoever calls has loaded: in a way that all libraries see, or in another.
template <class F>
F of_tvm_ffi(const char* name) {
  if (void* const found = dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<F>(found);
  void* const library = dlopen("libtvm_ffi.so", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<F>(dlsym(library, name));
}

inline int called(const Function& function, const TVMFFIAny* arguments, std::int32_t count, TVMFFIAny* result) {
  static const auto stream = of_tvm_ffi<void* (*)(std::int32_t, std::int32_t)>("TVMFFIEnvGetStream");
  static const auto raise = of_tvm_ffi<void (*)(const char*, const char*)>("TVMFFIErrorSetRaisedFromCStr");
  const auto failed = [&](const char* kind, const std::string& text) {
    if (raise != nullptr) {
      raise(kind, text.c_str());
    } else {  // nobody else could tell
      std::fprintf(stderr, "%s: %s\n", kind, text.c_str());
    }
    return -1;
  };
  try {
    Call call(function, arguments, count);
    call.use_streams(stream);
    call.run();
  } catch (const Problem& problem) {
    return failed(problem.kind, std::string(function.name) + ": " + problem.text);
  } catch (const std::exception& error) {
    return failed("RuntimeError", std::string(function.name) + ": " + error.what());
  }
  result->type_index = kTVMFFINone;
  result->v_int64 = 0;
  return 0;
}

inline int told(const char* text, TVMFFIAny* result) {
  static const auto make = of_tvm_ffi<int (*)(const TVMFFIByteArray*, TVMFFIAny*)>("TVMFFIStringFromByteArray");
  const TVMFFIByteArray bytes{text, std::strlen(text)};
  return make == nullptr ? -1 : make(&bytes, result);
}

}  // namespace exported
