# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb


@cb.cube
def fill(x):
    x[0] = 1.0


def run():
    fill.over(1)(np.zeros(8, np.complex64))
