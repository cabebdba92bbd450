// at least sm_90a
extern "C" __global__ void bulk(const float* in, float* out, const void* map) {
  __shared__ __align__(128) float stage[1024];
  __shared__ __align__(8) unsigned long long bar;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(stage));
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(at));
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(to), "l"(in),
      "r"(at));
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(0), "r"(64), "r"(at));
  asm volatile(
      "{\n\t.reg .pred done;\nWAIT:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n\t@done bra READY;\n\t"
      "bra WAIT;\nREADY:\n\t}" ::"r"(at));
  unsigned lane;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync %0|p, 0xFFFFFFFF;\n\t@p add.u32 %0, %0, 1;\n\t}" : "=r"(lane));
  out[threadIdx.x] = stage[threadIdx.x] + lane;
}
