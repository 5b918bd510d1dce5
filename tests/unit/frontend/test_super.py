"""`super()` in structs, against the same classes in Python."""

# mypy: disable-error-code="arg-type, misc"

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32


@cb.struct
class Shape:
    size: f32
    SIDES = 1.0

    def area(self, by: f32) -> f32:
        return self.size * by

    @property
    def sides(self) -> f32:
        return f32(self.SIDES) + self.size

    @classmethod
    def made(cls, size: f32) -> Any:
        return cls(size)


@cb.struct
class Left(Shape):
    SIDES = 3.0

    def area(self, by: f32) -> f32:
        return super().area(by) + 1.0


@cb.struct
class Right(Shape):
    def area(self, by: f32) -> f32:
        return super().area(by) * 2.0

    @property
    def sides(self) -> f32:
        return super().sides * f32(super().SIDES)


@cb.struct
class Both(Left, Right):
    def area(self, by: f32) -> f32:
        return super().area(by) - super(Left, self).area(by) * 10.0

    @classmethod
    def made(cls, size: f32) -> Any:
        return super().made(size + 1.0)


@cb.cube
def of_all_above(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(x):
        out[i] = Both(x[i]).area(3.0) + 100.0 * Both(x[i]).sides + 7.0 * Both.made(x[i]).size


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_super_goes_on_to_the_next_class_as_in_python(device: str) -> None:
    x = np.arange(5, dtype=np.float32)
    out = np.zeros_like(x)
    of_all_above.over(len(x), device=device)(x, out)
    each = [(Both(value), Both.made(value)) for value in x.tolist()]
    expected = [both.area(3.0) + 100.0 * both.sides + 7.0 * made.size for both, made in each]
    np.testing.assert_array_equal(out, np.array(expected, np.float32))
