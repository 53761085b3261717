"""Newton steps on all free variables at once (face steps)."""
