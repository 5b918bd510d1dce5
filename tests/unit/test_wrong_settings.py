"""Values of the wrong kind for every setting of a launch: an error of our own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32
from cubepy.errors import CubeError

WRONG: list[Any] = [
    5, 2.5, "nonsense", b"cpu", [], {}, object(), True, (1, 2), -1, "", float("nan"), 2**70,
    np.float32(2), int, None,
]  # fmt: skip


@cb.cube
def copies(x: Array[f32], out: Array[f32]) -> None:
    out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]


X, OUT = np.zeros(4, np.float32), np.zeros(4, np.float32)
LAUNCHES: dict[str, Callable[[Any], Any]] = {
    "over device": lambda wrong: copies.over(4, device=wrong)(X, OUT),
    "over check": lambda wrong: copies.over(4, check=wrong)(X, OUT),
    "launch device": lambda wrong: copies.launch(X, OUT, cube_count=1, cube_dim=1, device=wrong),
    "launch check": lambda wrong: copies.launch(X, OUT, cube_count=1, cube_dim=1, check=wrong),
    "target": lambda wrong: copies.inspect(X, OUT, target=wrong),
    "argument": lambda wrong: copies.over(4)(wrong, OUT),
    "prepared": lambda wrong: copies.over(4).prepare(wrong, OUT),
    "inspected": lambda wrong: copies.inspect(wrong, OUT),
    "device": cb.device,
    "default device": cb.set_default_device,
    "plane_dim": lambda wrong: cb.cube(plane_dim=wrong)(lambda x: None),
}
SIZES: dict[str, Callable[[Any], Any]] = {
    "shape": lambda wrong: copies.over(wrong)(X, OUT),
    "shape of two": lambda wrong: copies.over((4, wrong))(X, OUT),
    "count": lambda wrong: copies[wrong, 1](X, OUT),
    "dim": lambda wrong: copies[1, wrong](X, OUT),
    "cube_count": lambda wrong: copies.launch(X, OUT, cube_count=wrong, cube_dim=1),
    "cube_dim": lambda wrong: copies.launch(X, OUT, cube_count=1, cube_dim=wrong),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("setting", LAUNCHES)
def test_wrong_settings(setting: str, wrong: Any) -> None:
    if wrong is None and ("device" in setting or setting == "target") and setting != "device":
        return  # None means the default
    with pytest.raises(CubeError):
        LAUNCHES[setting](wrong)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("setting", SIZES)
def test_wrong_sizes(setting: str, wrong: Any) -> None:
    if isinstance(wrong, int | tuple | bytes) and wrong not in (-1, 2**70):
        return  # numbers, or what runs over some
    with pytest.raises(CubeError):
        SIZES[setting](wrong)


@pytest.mark.parametrize("wrong", [5, 2.5, None, "nonsense", ["nnan", 3], object()])
def test_wrong_flags(wrong: Any) -> None:
    with pytest.raises(CubeError):
        cb.cube(fast_math=wrong)(lambda x: None)
