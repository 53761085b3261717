"""Training of kernel machines: problems, their Gram matrices, and what follows from solutions."""
