"""Layer norm of each row: mean 0, deviation 1, then scaled and shifted; its gradients; a fused addition."""
