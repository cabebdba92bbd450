// What TVM-FFI and DLPack pass to a function: their C structures, as far as an exported library reads them. The
// names are those of tvm/ffi/c_api.h and dlpack.h; a test holds the sizes, offsets and numbers against these headers.
// They are not included here, so that a library can be built where TVM-FFI is not installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace exported {

struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // null where the tensor is contiguous
  std::uint64_t byte_offset;
};

enum : std::int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };

struct TVMFFIObject {
  std::uint64_t combined_ref_count;
  std::int32_t type_index;
  std::uint32_t padding;
  void (*deleter)(void*, int);
};

struct TVMFFIAny {
  std::int32_t type_index;
  std::uint32_t zero_padding;
  union {
    std::int64_t v_int64;
    double v_float64;
    void* v_ptr;
    TVMFFIObject* v_obj;
  };
};

struct TVMFFIByteArray {
  const char* data;
  std::size_t size;
};

enum : std::int32_t {
  kTVMFFINone = 0,
  kTVMFFIInt = 1,
  kTVMFFIBool = 2,
  kTVMFFIFloat = 3,
  kTVMFFIDLTensorPtr = 7,
  kTVMFFIRawStr = 8,
  kTVMFFISmallStr = 11,
  kTVMFFIStr = 65,
  kTVMFFITensor = 70,  // an object: a TVMFFIObject, and behind it the DLTensor
};

}  // namespace exported
