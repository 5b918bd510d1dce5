# mypy: ignore-errors
# ruff: noqa
from typing import TypeVar

import numpy as np

import cubepy as cb
from cubepy import Array


F = TypeVar("F", bound=cb.Float)


def kernel(x: Array[F]):
    x[0] = x[1]


ARGUMENTS = (np.zeros(8, np.int32),)
