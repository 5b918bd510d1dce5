"""Runs a generated kernel on two devices and compares all memory bit for bit (NaN equals NaN),
what is printed, and whether an assertion failed.

Each memory has a margin on both sides, which is compared too: a write that misses its array is seen
there, and does no harm to the process.
"""

from __future__ import annotations

import contextlib
import io
import zlib
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from cubepy.comparison import differences
from cubepy.errors import AssertionFailed
from cubepy.ir import BOOL, STORED, Scalar
from cubepy.runtime import Device
from cubepy.testing.generator import BaseSpec, GeneratedKernel
from cubepy.testing.memory_module import module_of
from cubepy.testing.operands import operand_table

__all__ = ["Compiled", "arguments_of", "compare_on", "run_on"]

Array = np.ndarray[Any, Any]
MARGIN = 1024  # elements; more than any gang times any stride


class Compiled:
    """A generated kernel as a module, compiled for each device it is run on."""

    def __init__(self, generated: GeneratedKernel) -> None:
        self.generated = generated
        module = module_of(generated.source)
        self.kernel = module.kernel
        self.constants = {
            name: getattr(module, constant) for name, constant in generated.constants.items()
        }

    def run(self, device: Device) -> dict[str, Array]:
        """The memory of all arguments after a launch on a device."""
        return run_on(self, device)


def fill(type: Scalar, size: int, name: str) -> Array:
    """The first content of a memory: small numbers, ends of the type, and odd bits."""
    random = np.random.default_rng(zlib.crc32(f"{name} {type} {size}".encode()))
    if type is BOOL:
        return random.random(size) < 0.5
    table = operand_table(type)
    wild = table[random.integers(0, table.size, size)]
    low = -9 if type.is_float or type.is_signed else 0
    small: Array = random.integers(low, 25, size)
    if type.is_float:
        small = (small / 4).astype(np.float32)
    return np.where(random.random(size) < 0.75, small.astype(type.numpy), wild)


def _fill_format(spec: BaseSpec, name: str) -> Array:
    """Any numbers of a format: they are all alike."""
    host = next(host for host, format in STORED.items() if format == spec.format)
    dtype = np.dtype(getattr(ml_dtypes, host))
    bits = int(host.removeprefix("float")[0])
    random = np.random.default_rng(zlib.crc32(f"{name} {host} {spec.size}".encode()))
    return random.integers(0, 1 << bits, spec.size, dtype=np.uint8).view(dtype)


def _padded(array: Array) -> Array:
    """The array with margins of a pattern that no array has."""
    margin = np.full(MARGIN * array.itemsize, 0x5B, np.uint8).view(array.dtype)
    if array.dtype == np.bool_:
        margin = np.ones(MARGIN, np.bool_)
    return np.concatenate([margin, array, margin])


def _view(base: Array, start: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    origin = base[start:] if start < base.size else base[:0]
    # by their bits: NumPy does not know small floats by the code they give themselves
    words = origin.view(f"u{base.itemsize}")
    steps = tuple(stride * base.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(words, shape, steps).view(base.dtype)


def _arguments(generated: GeneratedKernel, bases: Mapping[str, Array]) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        spec.name: _view(bases[spec.base], MARGIN + spec.start, spec.shape, spec.strides)
        for spec in generated.arrays
    }
    return arguments | {spec.name: spec.value for spec in generated.scalars}


def arguments_of(compiled: Compiled) -> dict[str, Any]:
    """Arguments of a launch, in memory of their own."""
    return _arguments(compiled.generated, _bases(compiled.generated)) | compiled.constants


def _bases(generated: GeneratedKernel) -> dict[str, Array]:
    return {
        name: _padded(
            _fill_format(spec, name) if spec.format else fill(spec.element, spec.size, name)
        )
        for name, spec in generated.bases.items()
    }


def run_on(compiled: Compiled, device: Device) -> dict[str, Array]:
    """The memory of all arguments after a launch on a device."""
    bases = _bases(compiled.generated)
    arguments = _arguments(compiled.generated, bases) | compiled.constants
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            _launch(compiled, device, arguments)
    except AssertionFailed:  # what the memory holds then is unspecified
        return {"assertion": np.ones(1, np.bool_)}
    text = np.frombuffer(printed.getvalue().encode(), np.uint8)
    return bases | {"assertion": np.zeros(1, np.bool_), "printed": text}


def _launch(compiled: Compiled, device: Device, arguments: Mapping[str, Any]) -> None:
    generated = compiled.generated
    if generated.over:
        compiled.kernel.over(generated.over, device=device)(**arguments)
    else:
        compiled.kernel.launch(
            **arguments,
            cube_count=generated.cube_count,
            cube_dim=generated.cube_dim,
            device=device,
        )


def compare_on(compiled: Compiled, expected: Mapping[str, Array], device: Device) -> list[str]:
    """What a device's memory has other than `expected`, one line a memory."""
    got = run_on(compiled, device)
    lines = []
    for name, wanted in expected.items():
        found = got.get(name)
        if found is None or found.shape != wanted.shape:
            lines.append(f"{device.name}: {name} is {found!r} instead of {wanted!r}")
            continue
        wrong = differences(found, wanted)
        if wrong.size:
            at = int(wrong[0])
            lines.append(
                f"{device.name}: {name} differs in {wrong.size} of {wanted.size - 2 * MARGIN}, "
                f"first at {at - MARGIN}: {got[name][at]!r} instead of {wanted[at]!r}"
            )
    return lines
