# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb


@cb.cube
def kernel(*arrays):
    arrays[0][0] = 1.0


def run():
    kernel.over(8)(np.zeros(8, np.float32))
