"""Model selection for regression: kernel, C and ε."""
