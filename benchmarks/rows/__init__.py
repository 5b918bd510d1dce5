"""The rows of the table: each kernel written for cubepy and, by hand, in OpenCL C."""

from benchmarks.rows import cooperation, fields, streaming
from benchmarks.rows.fields import (
    MANDELBROT_ITERATIONS,
    MANDELBROT_ORIGIN,
    MANDELBROT_STEP,
    mandelbrot_counts,
)
from benchmarks.rows.row import Array, Call, Row

__all__ = [
    "MANDELBROT_ITERATIONS",
    "MANDELBROT_ORIGIN",
    "MANDELBROT_STEP",
    "ROWS",
    "Array",
    "Call",
    "Row",
    "mandelbrot_counts",
]

ROWS: tuple[Row, ...] = (*streaming.ROWS, *fields.ROWS, *cooperation.ROWS)
