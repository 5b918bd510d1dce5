"""Annotations of structs given as text."""

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32
from cubepy.errors import CubeTypeError


def test_annotations_as_text() -> None:
    @cb.struct
    class Inner:
        x: "f32"

    @cb.struct
    class Outer:
        inner: "Inner"
        scale: "Comptime[float]"

    @cb.cube
    def kernel(outer: "Outer", x: Array[f32]) -> None:
        x[0] = outer.inner.x * outer.scale

    x = np.zeros(1, np.float32)
    kernel.over(1, device="reference")(Outer(Inner(f32(3)), 2.5), x)
    assert x[0] == 7.5

    @cb.struct
    class Unknown:
        x: "nowhere"  # type: ignore[name-defined]  # noqa: F821

    def other(u: Unknown) -> None: ...

    with pytest.raises(CubeTypeError, match="annotation 'nowhere' of the field x of Unknown"):
        cb.cube(other).over(1)(Unknown(1))
