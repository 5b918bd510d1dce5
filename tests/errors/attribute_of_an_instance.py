# mypy: ignore-errors
import numpy as np

from cubepy import Array, f32


class Settings:
    def __init__(self):
        self.scale = 2.0


SETTINGS = Settings()


def kernel(x: Array[f32]):
    x[0] *= SETTINGS.scale


ARGUMENTS = (np.zeros(8, np.float32),)
