"""What softmax and cross entropy have in common: rows in packs, and the state of a part of a row."""
