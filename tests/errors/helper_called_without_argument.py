# mypy: ignore-errors
# ruff: noqa
import cubepy as cb
from cubepy import f32


@cb.cube
def half(v: f32):
    return 0.5 * v


def run():
    half()
