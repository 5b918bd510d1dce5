# mypy: ignore-errors
# ruff: noqa
from typing import TypeVar

import numpy as np

import cubepy as cb
from cubepy import Array


F = TypeVar("F", bound=cb.Float)


def kernel(x: Array[F], y: Array[F]):
    y[0] = x[0]


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8))
