# mypy: ignore-errors
# ruff: noqa
import dataclasses

import numpy as np

from cubepy import Array, f32


@dataclasses.dataclass
class Settings:
    scale: float = 2.0


SETTINGS = Settings()


def kernel(x: Array[f32]):
    x[0] *= SETTINGS.scale


ARGUMENTS = (np.zeros(8, np.float32),)
