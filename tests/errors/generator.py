# mypy: ignore-errors
# ruff: noqa
import cubepy as cb
from cubepy import Array, f32


def kernel(x: Array[f32]):
    yield x[0]


def run():
    cb.cube(kernel)
