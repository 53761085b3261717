"""Newton methods in the primal of linear machines."""
