# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, u32


@cb.cube
def wait(flags: Array[u32]):
    i = cb.ABSOLUTE_POS
    while cb.atomic_load(flags, 0) == 0:
        pass
    flags[i] = 1


def run():
    wait.over(1, device="reference")(np.zeros(8, np.uint32))
