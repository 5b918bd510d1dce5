# mypy: ignore-errors
# ruff: noqa
import cubepy as cb
from cubepy import Array, f32


@cb.cube
def fill(x: Array[f32]):
    x[0] = 1.0


def run():
    fill.over(1)([0.0, 0.0])
