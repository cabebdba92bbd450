// Includes what is no header of its own.
// Refused
#incl\
ude "/etc/passwd"

int main() {}
