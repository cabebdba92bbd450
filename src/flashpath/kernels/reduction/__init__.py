"""Sum, maximum, mean and argmax, of a whole tensor and of each row: many numbers to one."""
