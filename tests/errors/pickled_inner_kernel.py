# mypy: ignore-errors
# ruff: noqa
import pickle

import cubepy as cb
from cubepy import Array, f32


def make():
    @cb.cube
    def fill(x: Array[f32]):
        x[0] = 1.0

    return fill


def run():
    pickle.dumps(make())
