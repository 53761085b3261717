"""Storage of Gram rows for the compiled loop."""
