"""One launch: arguments in the order of a kernel's parameters become bindings of a device.

What every runtime shares stands here: refusing arguments a kernel may not write, copies for arrays
that a device cannot use as they lie, converting scalars, waiting for results on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cubepy.errors import ArgumentError, LaunchError
from cubepy.ir import Access, Scalar, StrideClass
from cubepy.records import dataclass, field
from cubepy.runtime.arguments import ArrayFacts, array_of, facts_of, span_of
from cubepy.runtime.base import ArrayBinding, Binding, Device, Grid, LoadedKernel, ScalarBinding
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.events import Event, Uses
from cubepy.runtime.scalars import convert_scalar
from cubepy.runtime.staging import Staged, stage
from cubepy.runtime.streams import Stream
from cubepy.runtime.targeted import memory_owner
from cubepy.target import Artifact

__all__ = ["check_access", "launch"]

Array = np.ndarray[Any, Any]
WRITES = (Access.WRITE, Access.READ_WRITE)
UNSURE = (Access.UNKNOWN, *WRITES)


def _place(artifact: Artifact, number: int) -> str:
    return f"{artifact.kernel_name}: argument {artifact.abi.names[number]!r}"


def check_access(artifact: Artifact, facts: Sequence[ArrayFacts | None]) -> None:
    """Refuse arguments that the kernel writes and must not: read-only ones and broadcast views."""
    for number, (access, fact) in enumerate(zip(artifact.access, facts, strict=True)):
        if fact is None or access not in UNSURE:
            continue
        if not fact.writable:
            raise ArgumentError(
                f"{_place(artifact, number)} is written by the kernel, and the array is read-only\n"
                "  help: pass a copy, or an array with flags.writeable"
            )
        if StrideClass.ZERO in fact.classes:
            raise ArgumentError(
                f"{_place(artifact, number)} is written by the kernel, and several of its elements "
                "share memory (an axis has stride 0)\n  help: pass a copy of the broadcast view"
            )


def launch(
    device: Device,
    kernel: LoadedKernel,
    grid: Grid,
    values: Sequence[object],
    stream: Stream | None = None,
) -> None:
    """Launch `kernel` with `values`, one a parameter, and wait for what lies in host memory."""
    if grid.cubes == 0:
        return
    plan = _Plan(device=device, artifact=kernel.artifact)
    for number, value in enumerate(values):
        plan.add(number, value)
    bindings = plan.finish()
    if stream is None:
        _launch_here(device, kernel, grid, bindings, plan.buffers)
    else:
        _launch_there(stream, kernel, grid, bindings, plan.buffers)
    if plan.host:
        device.sync() if stream is None else stream.synchronize()
    for after in reversed(plan.afterwards):  # from the device first, then from aligned copies
        after()


# The uses of a buffer, and whether the launch writes it.
Touched = Sequence[tuple[Uses, bool]]


def _launch_here(
    device: Device, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding], buffers: Touched
) -> None:
    for uses, writes in buffers:
        uses.settle_streams(writes=writes)
    device.launch(kernel, grid, bindings)
