"""Kernels of strings: oligo kernels (thesis, chapter 13)."""
