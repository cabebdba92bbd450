"""Running sums and maxima: inclusive, exclusive, segmented; of a vector and of each row of a matrix."""
