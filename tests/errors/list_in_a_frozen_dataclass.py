# mypy: ignore-errors
# ruff: noqa
import dataclasses

import numpy as np

from cubepy import Array, f32


@dataclasses.dataclass(frozen=True)
class Settings:
    scales: list


SETTINGS = Settings([1.0, 2.0])


def kernel(x: Array[f32]):
    x[0] *= SETTINGS.scales[0]


ARGUMENTS = (np.zeros(8, np.float32),)
