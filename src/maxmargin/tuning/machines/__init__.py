"""Machines inside a search: many small fits, and paths of C on one Gram matrix."""
