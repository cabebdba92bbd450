// Includes what is no header of its own.
// Refused
#include "../../settings.py"

int main() {}
