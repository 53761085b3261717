"""Tables of mixed columns: kinds, conversion to features, and traps."""
