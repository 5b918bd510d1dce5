# mypy: ignore-errors
# ruff: noqa
import cubepy as cb
from cubepy import Array, f32


async def kernel(x: Array[f32]):
    x[0] = 1.0


def run():
    cb.cube(kernel)
