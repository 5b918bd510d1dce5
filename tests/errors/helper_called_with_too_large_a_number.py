# mypy: ignore-errors
# ruff: noqa
import cubepy as cb
from cubepy import u8


@cb.cube
def half(v: u8):
    return v // 2


def run():
    half(300)
