"""Copy and transpose: the same bytes, in the same order and in the other one."""
