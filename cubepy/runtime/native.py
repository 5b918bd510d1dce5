"""What a device must know to take calls of a launcher in machine code.

A device may offer a subclass of a launcher class whose calls need no Python (`Device.native_kind`).
Such an object learns, launch by launch, what a call looks like for which everything has been looked
up before: :class:`ExpectedCall`. A call that looks like one of those is launched; any other goes to
the class's own `__call__`, which decides what it means and may teach the object something new.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter
from typing import Any, Protocol

import numpy as np

from cubepy.ir import Scalar, StrideClass
from cubepy.records import dataclass
from cubepy.runtime.base import Device, Grid, LoadedKernel

__all__ = [
    "Expected",
    "ExpectedArray",
    "ExpectedCall",
    "ExpectedNumber",
    "ExpectedValue",
    "ExpectedVariable",
    "NativeEntry",
    "NativeKind",
    "NativeTable",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedArray:
    """An aligned array with this very dtype object; without gaps if `classes` is None.

    With a `device` it is a `Buffer` of that device.
    """

    position: int
    parameter: int
    dtype: np.dtype[Any]
    ndim: int
    classes: tuple[StrideClass, ...] | None
    writeable: bool
    device: Device | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedNumber:
    """A number of this very class for a scalar parameter."""

    position: int
    parameter: int
    kind: type
    element: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedValue:
    """This very object, for a comptime parameter."""

    position: int
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedVariable:
    """A variable that must still hold this very object: in a namespace by name, in a cell, or a
    part of a function such as `__code__`. `absent`: there must be none of that name.
    """

    holder: object
    name: str | None
    value: object
    absent: bool = False


Expected = ExpectedArray | ExpectedNumber | ExpectedValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call with `count` arguments, one a parameter, that is known to launch a kernel over a grid.

    `parameter` of an argument is its number among the kernel's parameters. `overlaps` has the pairs
    of arrays, numbered in the order of `arguments`, that share memory, the earlier first. With an
    `epoch` the call is known only while `switches` has that one.
    """

    count: int
    arguments: Sequence[Expected]
    variables: Sequence[ExpectedVariable]
    overlaps: frozenset[tuple[int, int]]
    kernel: LoadedKernel
    grid: Grid
    epoch: int | None


class NativeEntry(Protocol):
    """What machine code knows of one callable."""

    def learn(self, call: ExpectedCall) -> bool:
        """Launch calls like this one without Python from now on; whether that can be done."""
        ...


class NativeKind(Protocol):
    """A class of callables that start in machine code."""

    @property
    def kind(self) -> type:
        """A subclass of the class asked for."""
        ...

    def attach(self, instance: object, parameters: Sequence[Parameter]) -> NativeEntry:
        """Make an instance of `kind` callable with arguments for these parameters.

        To be done once, before its first call.
        """
        ...


class NativeTable(Protocol):
    """A class of objects that look up what they have for a size or a shape."""

    @property
    def kind(self) -> type:
        """A subclass of the class asked for."""
        ...

    def attach(self, instance: object, known: dict[Any, Any]) -> object:
        """Let an instance of `kind` answer calls with one argument from `known`, others in Python.

        To be done once, before its first call; the result is to be kept as long as the instance.
        """
        ...
