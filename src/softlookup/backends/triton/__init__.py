"""The kernels of the backends on a GPU, in Triton; loaded by their files, and only when needed."""
