// RMS norm, rung 5: the gradients, formula by formula.
//
//   maths    x̂ = x rstd, g = dy * weight; of each row dx = rstd (g - x̂ Σ (g x̂) / n), of each column
//            dweight = Σ dy x̂
//   layout   dy, x, dx: (rows, n), contiguous; weight: (n), in any float type, or null; rstd: (rows), as the forward
//            pass saved it; dweight: (n), in weight's type
//   cost     11 FLOPs an element; at least 3 rows n sizeof(T) bytes
//   improves the reference: two kernels in place of one for each operation of the formulas
//   idea     layer_norm's backward with the mean left out: a kernel along rows for dx, one down the columns for dweight
#include "../common/norm/backward.cuh"
