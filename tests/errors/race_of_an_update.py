# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, i32, u32


@cb.cube
def count(x: Array[i32], counts: Array[u32]):
    counts[x[cb.ABSOLUTE_POS]] += 1


def run():
    count.over(8, device="reference")(np.zeros(8, np.int32), np.zeros(4, np.uint32))
