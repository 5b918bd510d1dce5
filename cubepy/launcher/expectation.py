"""A launch that went well, described so that machine code can take the next one like it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cubepy import frontend, ir
from cubepy.launcher.resolver import Record
from cubepy.runtime import (
    Buffer,
    Device,
    Expected,
    ExpectedArray,
    ExpectedCall,
    ExpectedNumber,
    ExpectedValue,
    ExpectedVariable,
    Grid,
    facts_of,
    span_of,
)

__all__ = ["expected_call"]


def expected_call(
    record: Record, device: Device, grid: Grid, arguments: Sequence[Any], epoch: int | None
) -> ExpectedCall | None:
    """What calls look like that are to be launched as this one; None if some argument is unusual.

    `device` owns the memory of the buffers.
    """
    expected = [_expected(record, device, *pair) for pair in enumerate(arguments)]
    known = [argument for argument in expected if argument is not None]
    if len(known) < len(expected):
        return None
    arrays = [arguments[each.position] for each in known if isinstance(each, ExpectedArray)]
    return ExpectedCall(
        count=len(arguments),
        arguments=known,
        variables=tuple(_variables(record.watched)),
        overlaps=_overlaps([_span(array) for array in arrays]),
        kernel=record.kernel,
        grid=grid,
        epoch=epoch,
    )


def _expected(record: Record, device: Device, position: int, value: Any) -> Expected | None:
    if position not in record.positions:
        return ExpectedValue(position=position, value=value)
    parameter = record.positions.index(position)
    type_ = record.kernel.artifact.abi.types[parameter]
    if isinstance(type_, ir.Scalar):
        return ExpectedNumber(
            position=position, parameter=parameter, kind=type(value), element=type_
        )
    on_device = type(value) is Buffer and value.device is device
    array = value.view if on_device else value
    if type(array) is not np.ndarray or not array.ndim:
        return None
    facts = facts_of(array)
    if facts.staged:
        return None
    return ExpectedArray(
        position=position,
        parameter=parameter,
        dtype=array.dtype,
        ndim=array.ndim,
        classes=None if array.flags.c_contiguous else facts.classes,
        writeable=facts.writable,
        device=device if on_device else None,
    )


def _span(value: np.ndarray[Any, Any] | Buffer) -> tuple[int, int]:
    """First byte and the one behind the last; nothing, where nothing overlaps, if it is empty."""
    array = value.view if isinstance(value, Buffer) else value
    assert array is not None
    _, low, high = span_of(array)
    return low, high


def _overlaps(spans: Sequence[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    return frozenset(
        (early, late)
        for (early, (low, high)), (late, (start, stop)) in itertools.combinations(
            enumerate(spans), 2
        )
        if low < stop and start < high
    )


def _variables(watched: frontend.Watched) -> Iterator[ExpectedVariable]:
    for holder, name, value in (*watched.names, *watched.parts):
        absent = value is frontend.ABSENT
        yield ExpectedVariable(holder=holder, name=name, value=value, absent=absent)
    for cell, value in watched.cells:
        yield ExpectedVariable(holder=cell, name=None, value=value)
