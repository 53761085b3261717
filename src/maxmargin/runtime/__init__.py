"""What compiled code stands on: the JIT decorators, BLAS and LAPACK, threads, buffers."""
