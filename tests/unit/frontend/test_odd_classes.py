"""Classes that answer every question are not taken for what they are not."""

from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Array, f32


class Answers(type):
    def __getattr__(cls, name: str) -> Any:
        return 2.0


class Anything(metaclass=Answers):
    pass


def test_a_class_that_has_every_attribute_is_no_struct() -> None:
    @cb.cube
    def kernel(out: Array[f32]) -> None:
        out[0] = Anything.some

    out = np.zeros(1, np.float32)
    kernel.over(1)(out)
    assert out[0] == 2.0
