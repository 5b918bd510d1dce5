# mypy: ignore-errors
# ruff: noqa
import dataclasses

import numpy as np

from cubepy import Array, f32


@dataclasses.dataclass(frozen=True)
class Scale:
    factor: float

    def applied(self, v):
        return v * self.facotr


SCALE = Scale(2.0)


def kernel(x: Array[f32]):
    x[0] = SCALE.applied(x[1])


ARGUMENTS = (np.zeros(8, np.float32),)
