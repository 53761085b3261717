"""Solvers that move two variables at a time: sequential minimal optimisation in its variants."""
