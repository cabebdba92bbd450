// One call of an exported function: its arguments are read and checked, a variant is chosen, its kernel is launched.
#pragma once

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tables.h"

namespace exported {

struct Tensor {
  const DLTensor* is = nullptr;
  std::int64_t size = 1;
  std::uint64_t address = 0;  // what the kernel is given

  std::int64_t shape(int dimension) const { return is->shape[dimension]; }
  std::size_t bytes() const { return static_cast<std::size_t>(size) * is->dtype.bits / 8 * is->dtype.lanes; }
};

struct Value {
  Tensor tensor;
  std::int64_t integer = 0;
  double number = 0;
};

class Call {
 public:
  Call(const Function& function, const TVMFFIAny* arguments, int count) : function_(function) {
    if (count != function.argument_count) {
      throw Problem{"TypeError", filled(words::kCount, {{"signature", function.signature},
                                                         {"count", std::to_string(count)}})};
    }
    values_.resize(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) read(k, arguments[k]);
    require_one_device();
  }

  const Tensor& tensor(int k) const { return values_[static_cast<std::size_t>(k)].tensor; }
  std::int64_t integer(int k) const { return values_[static_cast<std::size_t>(k)].integer; }
  double number(int k) const { return values_[static_cast<std::size_t>(k)].number; }
  const Gpu& gpu() const { return Gpu::get(device_); }

  void run() {
    const Variant* const found = chosen();
    if (found == nullptr) return;  // nothing is to be written
    const Variant& variant = *found;
    Parameters unused;
    const Launch launch = variant.launch(*this, unused);
    for (const Wide each : launch.grid) {
      if (each == 0) return;  // nothing to do
    }
    require_possible(launch);
    const Gpu& gpu = this->gpu();
    const OnGpu on_gpu(gpu);
    if (is_on_cpu_) return run_on_copies(variant, launch, gpu);
    start(variant, launch, gpu, stream_(kDLCUDA, device_));
  }

  // TVM-FFI's own function for the stream that a framework has made current.
  static void* no_stream(std::int32_t, std::int32_t) { return nullptr; }
  void use_streams(void* (*stream)(std::int32_t, std::int32_t)) {
    if (stream != nullptr) stream_ = stream;
  }

 private:
  // ---- Reading

  void read(int k, const TVMFFIAny& given) {
    const Argument& argument = function_.arguments[k];
    Value& value = values_[static_cast<std::size_t>(k)];
    if (argument.kind == Kind::kTensor) {
      value.tensor = tensor_of(argument, given);
    } else if (given.type_index == kTVMFFIInt || given.type_index == kTVMFFIBool) {
      value.integer = given.v_int64;
      value.number = static_cast<double>(given.v_int64);
    } else if (given.type_index == kTVMFFIFloat && argument.kind == Kind::kFloat) {
      value.number = given.v_float64;
    } else {
      const char* const sentence = argument.kind == Kind::kFloat ? words::kNoNumber : words::kNoInteger;
      throw Problem{"TypeError", filled(sentence, {{"name", argument.name}, {"got", kind_of(given)}})};
    }
  }

  static Tensor tensor_of(const Argument& argument, const TVMFFIAny& given) {
    Tensor tensor;
    if (given.type_index == kTVMFFIDLTensorPtr) {
      tensor.is = static_cast<const DLTensor*>(given.v_ptr);
    } else if (given.type_index == kTVMFFITensor) {
      tensor.is = reinterpret_cast<const DLTensor*>(given.v_obj + 1);
    } else {
      throw Problem{"TypeError", filled(words::kNoTensor, {{"name", argument.name}, {"got", kind_of(given)}})};
    }
    std::int64_t step = 1;
    bool is_contiguous = true;
    for (int d = tensor.is->ndim - 1; d >= 0; --d) {
      const std::int64_t extent = tensor.is->shape[d];
      is_contiguous = is_contiguous && (tensor.is->strides == nullptr || extent == 1 || tensor.is->strides[d] == step);
      step *= extent;
    }
    tensor.size = step;
    tensor.address = reinterpret_cast<std::uint64_t>(tensor.is->data) + tensor.is->byte_offset;
    if (!is_contiguous && step != 0) {
      throw Problem{"ValueError", filled(words::kStrided, {{"name", argument.name}, {"got", shown(tensor)}})};
    }
    return tensor;
  }

  void require_one_device() {
    const Argument* first = nullptr;
    std::string where;
    for (int k = 0; k < function_.argument_count; ++k) {
      const Argument& argument = function_.arguments[k];
      if (argument.kind != Kind::kTensor) continue;
      const DLDevice device = tensor(k).is->device;
      const bool is_gpu = device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged;
      const bool is_cpu = device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
      const std::string here = is_gpu ? "cuda:" + std::to_string(device.device_id) : is_cpu ? "cpu" : "";
      if (here.empty()) {
        const std::string type = std::to_string(device.device_type);
        throw Problem{"ValueError", filled(words::kDevice, {{"name", argument.name}, {"type", type}})};
      }
      if (first == nullptr) {
        first = &argument;
        where = here;
        is_on_cpu_ = is_cpu;
        device_ = is_cpu ? 0 : device.device_id;
      } else if (here != where) {
        throw Problem{"ValueError",
                      filled(words::kDevices,
                             {{"name", argument.name}, {"place", here}, {"other", first->name}, {"place2", where}})};
      }
    }
  }

  // ---- Choosing

  // The first variant that takes the call; a null pointer where all that one would write is empty.
  const Variant* chosen() const {
    std::string needs;
    for (const Variant* each = function_.variants; each != function_.variants + function_.variant_count; ++each) {
      if (!has_types(*each)) continue;
      if (writes_nothing(*each)) return nullptr;
      const int unmet = each->first_unmet(*this);
      if (unmet < 0) return each;
      const std::string need = std::string("\n  · ") + each->guards[unmet];
      if ((needs + "\n").find(need + "\n") == std::string::npos) needs += need;
    }
    if (needs.empty()) throw_types();
    throw Problem{"ValueError", filled(words::kGuards, {{"got", shown()}, {"needs", needs}})};
  }

  bool has_types(const Variant& variant) const {
    for (int k = 0; k < function_.argument_count; ++k) {
      if (function_.arguments[k].kind == Kind::kTensor && !has_type(tensor(k), variant.types[k])) return false;
    }
    return true;
  }

  bool writes_nothing(const Variant& variant) const {
    for (int k = 0; k < function_.argument_count; ++k) {
      const bool is_written = function_.arguments[k].kind == Kind::kTensor && variant.types[k].is_written;
      if (is_written && tensor(k).size != 0) return false;
    }
    return true;
  }

  static bool has_type(const Tensor& tensor, const Type& type) {
    const DLDataType& is = tensor.is->dtype;
    return is.code == type.is.code && is.bits == type.is.bits && is.lanes == type.is.lanes &&
           tensor.is->ndim == type.rank;
  }

  // No variant is of these types: tells of the argument that none takes, or of the combination.
  [[noreturn]] void throw_types() const {
    for (int k = 0; k < function_.argument_count; ++k) {
      if (function_.arguments[k].kind != Kind::kTensor) continue;
      std::vector<std::string> taken;
      bool is_taken = false;
      for (const Variant* each = function_.variants; each != function_.variants + function_.variant_count; ++each) {
        const Type& type = each->types[k];
        is_taken = is_taken || has_type(tensor(k), type);
        std::string text = std::string(type.dtype) + "[";
        for (int d = 0; d < type.rank; ++d) text += d ? ", ·" : "·";
        text += "]";
        if (std::find(taken.begin(), taken.end(), text) == taken.end()) taken.push_back(text);
      }
      if (is_taken) continue;
      std::string all;
      for (const std::string& each : taken) all += (all.empty() ? "" : words::kOr) + each;
      throw Problem{"TypeError", filled(words::kTypes, {{"name", function_.arguments[k].name},
                                                         {"got", shown(tensor(k))},
                                                         {"taken", all}})};
    }
    throw Problem{"TypeError", filled(words::kCombination, {{"got", shown()}, {"signature", function_.signature}})};
  }

  // ---- Launching

  // The extents of gpus/shape.py, once more: an exported library is compiled from these headers alone.
  void require_possible(const Launch& launch) const {
    const Wide most_grid[3] = {(Wide(1) << 31) - 1, 65535, 65535};
    const Wide most_block[3] = {1024, 1024, 64};
    bool is_possible = launch.shared >= 0 && launch.shared <= gpu().max_shared;
    for (int k = 0; k < 3; ++k) {
      is_possible = is_possible && launch.grid[k] >= 0 && launch.grid[k] <= most_grid[k];
      is_possible = is_possible && launch.block[k] > 0 && launch.block[k] <= most_block[k];
    }
    if (is_possible && launch.block[0] * launch.block[1] * launch.block[2] <= 1024) return;
    const auto three = [](const Wide* n) { return digits(n[0]) + ", " + digits(n[1]) + ", " + digits(n[2]); };
    throw Problem{"ValueError", filled(words::kLaunch, {{"grid", three(launch.grid)},
                                                         {"block", three(launch.block)},
                                                         {"shared", digits(launch.shared)},
                                                         {"got", shown()}})};
  }

  void start(const Variant& variant, const Launch& launch, const Gpu& gpu, void* stream) {
    const auto number = [](Wide value) { return static_cast<unsigned>(value); };
    const CUfunction function = variant.kernel->on(device_, gpu, static_cast<int>(launch.shared));
    Parameters parameters;
    variant.launch(*this, parameters);
    const Driver& driver = Driver::get();
    driver.check(driver.launch(function, number(launch.grid[0]), number(launch.grid[1]), number(launch.grid[2]),
                               number(launch.block[0]), number(launch.block[1]), number(launch.block[2]),
                               number(launch.shared), stream, parameters.pointers(), nullptr),
                 "cuLaunchKernel");
  }

  // Arrays in the host's memory: they are copied to the first GPU and back, and the call waits.
  void run_on_copies(const Variant& variant, const Launch& launch, const Gpu& gpu) {
    require_apart(variant);
    const Driver& driver = Driver::get();
    constexpr std::uint64_t kUnit = 256;  // allocations start at multiples of it: a copy keeps its place in between
    const auto release = [&driver](CUdeviceptr* memory) {
      driver.free(*memory);
      delete memory;
    };
    std::vector<std::unique_ptr<CUdeviceptr, decltype(release)>> copies;
    std::vector<std::pair<int, std::uint64_t>> written;
    for (int k = 0; k < function_.argument_count; ++k) {
      if (function_.arguments[k].kind != Kind::kTensor || tensor(k).size == 0) continue;
      Tensor& tensor = values_[static_cast<std::size_t>(k)].tensor;
      CUdeviceptr memory = 0;
      driver.check(driver.allocate(&memory, tensor.bytes() + kUnit), "cuMemAlloc");
      copies.emplace_back(new CUdeviceptr(memory), release);
      const std::uint64_t host = tensor.address;
      tensor.address = memory + host % kUnit;
      driver.check(driver.to_device(tensor.address, reinterpret_cast<const void*>(host), tensor.bytes()), "cuMemcpyHtoD");
      if (variant.types[k].is_written) written.emplace_back(k, host);
    }
    start(variant, launch, gpu, nullptr);
    for (const auto& [k, host] : written) {
      driver.check(driver.to_host(reinterpret_cast<void*>(host), tensor(k).address, tensor(k).bytes()), "cuMemcpyDtoH");
    }
  }

  // A copy of each: memory that two arrays share would be two.
  void require_apart(const Variant& variant) const {
    for (int a = 0; a < function_.argument_count; ++a) {
      for (int b = 0; b < function_.argument_count; ++b) {
        const bool are_tensors =
            function_.arguments[a].kind == Kind::kTensor && function_.arguments[b].kind == Kind::kTensor;
        if (a == b || !are_tensors || !variant.types[a].is_written) continue;
        const Tensor &one = tensor(a), &other = tensor(b);
        if (one.address < other.address + other.bytes() && other.address < one.address + one.bytes()) {
          throw Problem{"ValueError", filled(words::kOverlap, {{"name", function_.arguments[a].name},
                                                                {"other", function_.arguments[b].name}})};
        }
      }
    }
  }

  // ---- Telling

  static std::string shown(const Tensor& tensor) {
    const DLDataType& type = tensor.is->dtype;
    std::string text = dtype_name(type) + "[";
    for (int d = 0; d < tensor.is->ndim; ++d) text += (d ? ", " : "") + std::to_string(tensor.is->shape[d]);
    return text + "]";
  }

  std::string shown() const {
    std::string text;
    for (int k = 0; k < function_.argument_count; ++k) {
      const Argument& argument = function_.arguments[k];
      text += std::string(k ? ", " : "") + argument.name + ": ";
      char number[32];
      std::snprintf(number, sizeof number, "%.17g", this->number(k));
      text += argument.kind == Kind::kTensor ? shown(tensor(k)) : number;
    }
    return text;
  }

  static std::string dtype_name(const DLDataType& type) {
    static const char* const kNames[] = {"int",     "uint", "float", "handle", "bfloat", "complex", "bool", "float8_e3m4",
                                         "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
                                         "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"};
    constexpr unsigned kBool = 6;
    std::string text = type.code < std::size(kNames) ? kNames[type.code] : "dtype" + std::to_string(type.code) + "_";
    if (type.code < kBool) text += std::to_string(type.bits);
    return type.lanes == 1 ? text : text + "x" + std::to_string(type.lanes);
  }

  static std::string kind_of(const TVMFFIAny& given) {
    switch (given.type_index) {
      case kTVMFFINone: return "None";
      case kTVMFFIInt: return "int";
      case kTVMFFIBool: return "bool";
      case kTVMFFIFloat: return "float";
      case kTVMFFIDLTensorPtr:
      case kTVMFFITensor: return "tensor";
      case kTVMFFIRawStr:
      case kTVMFFISmallStr:
      case kTVMFFIStr: return "str";
      default: return filled(words::kOther, {{"number", std::to_string(given.type_index)}});
    }
  }

  const Function& function_;
  std::vector<Value> values_;
  bool is_on_cpu_ = false;
  int device_ = 0;
  void* (*stream_)(std::int32_t, std::int32_t) = no_stream;
};

}  // namespace exported
