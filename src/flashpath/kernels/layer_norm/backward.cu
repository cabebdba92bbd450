// Layer norm, rung 6: the gradients, formula by formula. rms_norm's are the same without the mean (kCentered false).
//
//   maths    x̂ = (x - mean) rstd, g = dy * weight; of each row
//            dx = rstd (g - Σ g / n - x̂ Σ (g x̂) / n); of each column dweight = Σ dy x̂, dbias = Σ dy
//   layout   dy, x, dx: (rows, n), contiguous; weight: (n), in any float type, or null; mean, rstd: (rows), as the
//            forward pass saved them; dweight, dbias: (n), in weight's type, or null where they are not wanted
//   cost     15 FLOPs an element; at least 3 rows n sizeof(T) bytes
//   improves the reference: two kernels in place of one for each operation of the formulas
//   idea     dx goes along rows and dweight along columns, so each is a kernel of its own. Along a row a block sums, as
//            two_pass does. Down the columns, neighbouring threads take neighbouring columns, so that reads coalesce,
//            and the warps of a block share out the rows: their sums meet in shared memory, always in the same order.
//            Products g are rounded by themselves in both walks: where they are all alike, their mean cancels them.
//   watch    dy and x are read three times: for the sums of a row, for dx, for the columns. And n columns are few
//            threads: 1024 columns keep 32 of an H200's 132 SMs busy.
#include "../common/norm/backward.cuh"
