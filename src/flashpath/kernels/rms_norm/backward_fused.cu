// RMS norm, rung 6: both gradients from one read.
//
//   maths    x̂ = x rstd, g = dy * weight; of each row dx = rstd (g - x̂ Σ (g x̂) / n), of each column
//            dweight = Σ dy x̂
//   layout   dy, x, dx: (rows, n), contiguous; weight: (n), in any float type, or null; rstd: (rows)
//            partials: (blocks, n) of dweight
//   cost     11 FLOPs an element; at least 3 rows n sizeof(T) bytes
//   improves backward: dy and x come from memory once, not three times, and every SM works on the columns' sums
//   idea     layer_norm's of the same name with the mean left out: blocks that stay for many rows, columns' sums in
//            registers, rows fetched ahead into shared memory, a second kernel for the blocks' partial sums
#include "../common/norm/backward_fused.cuh"
