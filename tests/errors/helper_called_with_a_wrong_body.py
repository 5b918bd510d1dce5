# mypy: ignore-errors
# ruff: noqa
import cubepy as cb
from cubepy import f32


@cb.cube
def half(v: f32):
    return v // missing


def run():
    half(1.0)
