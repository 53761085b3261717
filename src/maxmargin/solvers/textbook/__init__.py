"""Solvers as the lectures state them, to read and to watch."""
