"""Kernels as a NumPy or CUDA user would write them first, each with its NumPy twin beside it.

Every kernel is followed by a plain NumPy function that computes the same; tests hold the two
together on every runtime. They show the language: loops that break, shared memory, barriers, plane
operations, atomics, structs, vectors.
"""

from examples.kernels.bodies import (
    World,
    nbody,
    nbody_numpy,
)
from examples.kernels.control import (
    collatz_lengths,
    collatz_lengths_numpy,
    first_match,
    first_match_numpy,
)
from examples.kernels.cooperation import (
    block_sum,
    block_sum_numpy,
    histogram,
    histogram_numpy,
    matmul,
    matmul_numpy,
    softmax_rows,
    softmax_rows_numpy,
)
from examples.kernels.elementwise import (
    gelu,
    gelu_numpy,
    mandelbrot,
    mandelbrot_numpy,
    saxpy,
    saxpy_numpy,
)
from examples.kernels.register_tiles import product, product_plan, register_tiles
from examples.kernels.windows import (
    conv2d,
    conv2d_numpy,
    fir,
    fir_numpy,
    to_polar,
    to_polar_numpy,
)

__all__ = [
    "World",
    "block_sum",
    "block_sum_numpy",
    "collatz_lengths",
    "collatz_lengths_numpy",
    "conv2d",
    "conv2d_numpy",
    "fir",
    "fir_numpy",
    "first_match",
    "first_match_numpy",
    "gelu",
    "gelu_numpy",
    "histogram",
    "histogram_numpy",
    "mandelbrot",
    "mandelbrot_numpy",
    "matmul",
    "matmul_numpy",
    "nbody",
    "nbody_numpy",
    "product",
    "product_plan",
    "register_tiles",
    "saxpy",
    "saxpy_numpy",
    "softmax_rows",
    "softmax_rows_numpy",
    "to_polar",
    "to_polar_numpy",
]
