"""Foundations of compiled code: JIT decorators, BLAS and LAPACK, threads, buffers."""
