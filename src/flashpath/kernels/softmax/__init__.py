"""The softmax of each row, and its gradient: a maximum, a sum, and a quotient, in one read and one write."""
