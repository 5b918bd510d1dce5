# mypy: ignore-errors
# ruff: noqa
import numpy as np

from cubepy import Array, f32


def kernel(größe: Array[f32]):
    длина = größe[0]
    größe[1] = длина + 数


ARGUMENTS = (np.zeros(8, np.float32),)
