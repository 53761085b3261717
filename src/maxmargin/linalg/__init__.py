"""Cholesky factors: jittered, threaded, and bordered by new rows."""
