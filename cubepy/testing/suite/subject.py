"""The device that a suite is about, and how a test says that it lacks something."""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Iterator
from typing import Any

import numpy as np

from cubepy.errors import UnsupportedError
from cubepy.ir import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Scalar
from cubepy.runtime import Device
from cubepy.runtime import device as find_device

__all__ = ["SCALARS", "Array", "Subject", "arange", "same", "where_supported"]

Array = np.ndarray[Any, Any]
SCALARS: tuple[Scalar, ...] = (
    BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64,
)  # fmt: skip


class Subject:
    """`device` is a name, as `cubepy.device` takes it, or the device itself."""

    device: str | Device = ""

    @property
    def subject(self) -> Device:
        """The device."""
        return find_device(self.device)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The element types that it computes with."""
        known = self.subject.target.features.types
        return tuple(each for each in SCALARS if str(each) in known)


@contextlib.contextmanager
def where_supported() -> Iterator[None]:
    """What the device refuses by a feature's name is skipped."""
    try:
        yield
    except UnsupportedError as error:
        raise unittest.SkipTest(str(error)) from error


def arange(type: Scalar, size: int) -> Array:
    """Small numbers of a type."""
    return (np.arange(size) % 100).astype(type.numpy)


def same(got: Any, wanted: Any) -> None:
    """AssertionError unless two arrays have the same shape and the same bits; NaNs are equal."""
    first, second = np.asarray(got), np.asarray(wanted)
    assert first.shape == second.shape, f"shape {first.shape}, expected {second.shape}"
    assert first.dtype == second.dtype, f"{first.dtype}, expected {second.dtype}"
    one, other = (np.ascontiguousarray(each).view(np.uint8) for each in (first, second))
    wrong = np.flatnonzero(one.reshape(-1) != other.reshape(-1)) // max(1, first.itemsize)
    if wrong.size and not np.array_equal(first, second, equal_nan=first.dtype.kind == "f"):
        at = int(wrong[0])
        raise AssertionError(
            f"element {at} is {first.reshape(-1)[at]!r}, expected {second.reshape(-1)[at]!r}"
        )
