# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb


@cb.cube
def copy(x, y):
    y[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]


def run():
    x = np.zeros(8, np.float32)
    prepared = copy.over(8).prepare(x, np.zeros(8, np.float32))
    prepared(x, np.zeros(8))
