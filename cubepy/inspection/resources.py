"""What a kernel needs of a device: counted in the IR, the artifact and the machine code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from cubepy.compiler import Stages
from cubepy.ir import Kernel, Op, PrivateType, SharedType, ops, walk
from cubepy.records import dataclass, fields
from cubepy.target import MachineCode

__all__ = ["Resources", "resources_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Sizes in bytes unless the name says otherwise; None where the target has no such number.

    `private_bytes` are arrays of each unit that stayed in memory. `arena_bytes` is the scratch of
    a thread of the CPU, shared memory included. `instructions` to `vector_registers` are those of
    the machine code.
    """

    cube_units: int
    operations: int
    argument_bytes: int
    shared_bytes: int
    private_bytes: int
    arena_bytes: int
    text_lines: int
    instructions: int | None = None
    code_bytes: int | None = None
    spills: int | None = None
    reloads: int | None = None
    vector_registers: int | None = None

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Names in words and numbers, of those that there are."""
        for field in fields(self):
            number = getattr(self, field.name)
            if number is not None:
                yield field.name.replace("_", " "), number

    def __str__(self) -> str:
        return ", ".join(f"{name} {number:,}" for name, number in self)


def resources_of(stages: Stages, code: MachineCode | None) -> Resources:
    """Everything counted."""
    kernel, artifact = stages.optimized, stages.artifact
    every = list(_ops(kernel))
    counted = {} if code is None else {
        name: getattr(code, name)
        for name in ("instructions", "code_bytes", "spills", "reloads", "vector_registers")
    }  # fmt: skip
    return Resources(
        cube_units=prod(kernel.cube_dim),
        operations=len(every),
        argument_bytes=8 * len(artifact.abi.words),
        shared_bytes=_shared(every),
        private_bytes=sum(_size(op) for op in every if op.opdef is ops.LOCAL_ARRAY),
        arena_bytes=artifact.arena_bytes,
        text_lines=artifact.text.count("\n"),
        **counted,
    )


def _ops(kernel: Kernel) -> Iterator[Op]:
    for body in (kernel.body, *(function.body for function in kernel.functions)):
        yield from walk(body)


def _shared(every: Sequence[Op]) -> int:
    """Bytes of shared arrays; those of one place are not alive at once."""
    places: dict[object, int] = {}
    for op in every:
        if op.opdef is ops.SHARED:
            place = op.attrs.get("place", op)
            places[place] = max(places.get(place, 0), _size(op))
    return sum(places.values())


def _size(op: Op) -> int:
    assert isinstance(op.type, SharedType | PrivateType)
    return prod(op.type.shape) * op.type.element.size
