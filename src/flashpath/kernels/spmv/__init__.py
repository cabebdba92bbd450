"""A sparse matrix in compressed rows (CSR) times a dense vector."""
