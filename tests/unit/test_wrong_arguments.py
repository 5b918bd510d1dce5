"""Public names called on the host with what they do not take say what is wrong and what to do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeError
from cubepy.frontend.wording import describe_object

ODD: list[Any] = [None, "x", object(), {}, int, lambda: 1, b"x"]
CASTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "index", "f16", "bf16", "f32", "f64")


def refused(call: Callable[..., Any], *arguments: Any) -> None:
    with pytest.raises(CubeError) as caught:
        call(*arguments)
    assert "\n  help: " in str(caught.value), str(caught.value)
    assert " at 0x" not in str(caught.value).replace(repr(arguments[-1]), "")


@pytest.mark.parametrize("name", CASTS)
def test_casts_of_what_is_no_number(name: str) -> None:
    for value in ODD:
        refused(getattr(cb, name), value)


@pytest.mark.parametrize("value", [*ODD[1:6], 1.5, (1.5, 2), (), (2, -1)], ids=describe_object)
def test_layouts_of_what_is_no_shape(value: Any) -> None:
    refused(cb.Layout.strided, value)
    refused(cb.Layout.strided, (4, 4), value)
    refused(cb.Layout.tiled, value, (2, 2))
    refused(cb.Layout.tiled, (4, 4), value)
    refused(lambda shape: cb.Layout.virtual(shape, lambda i: i), value)


@pytest.mark.parametrize("value", [*ODD, 1.5, 0, -7, 2**32, np.zeros(3)], ids=describe_object)
def test_divisors_that_are_none(value: Any) -> None:
    refused(cb.FastDivmod.of, value)


def test_a_divisor_is_made_by_its_method() -> None:
    refused(cb.FastDivmod, 7)
    made = cb.FastDivmod.of(7)
    assert made == cb.FastDivmod(*(getattr(made, name) for name in made.__dataclass_fields__))


@pytest.mark.parametrize("value", [*ODD, 3, "cpu"], ids=describe_object)
def test_a_buffer_goes_to_a_device(value: Any) -> None:
    refused(cb.device("cpu").array(np.zeros(3)).to, value)


@pytest.mark.parametrize("value", [None, 3, "x", lambda: 1], ids=describe_object)
def test_structs_that_are_no_classes(value: Any) -> None:
    refused(cb.struct, value)
