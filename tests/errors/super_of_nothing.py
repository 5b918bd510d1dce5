# mypy: ignore-errors
# ruff: noqa
import numpy as np

import cubepy as cb
from cubepy import Array, f32


@cb.struct
class Base:
    size: f32


@cb.struct
class Derived(Base):
    def area(self, v):
        return super().missing(v)


def kernel(x: Array[f32]):
    x[0] = Derived(x[1]).area(2.0)


ARGUMENTS = (np.zeros(8, np.float32),)
