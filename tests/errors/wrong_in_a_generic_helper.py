# mypy: ignore-errors
# ruff: noqa
from typing import TypeVar

import numpy as np

import cubepy as cb
from cubepy import Array, i32


F = TypeVar("F", bound=cb.Number)


def mean(a: F, b: F) -> F:
    return (a + b) / 2


def kernel(n: Array[i32]):
    n[0] = mean(n[1], n[2])


ARGUMENTS = (np.zeros(8, np.int32),)
