// Include a file by its whole path; the test puts that of a solution in its place.
// Refused
#include "/ANSWER/solution.cu"
