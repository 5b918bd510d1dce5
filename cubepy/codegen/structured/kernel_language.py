"""What a kernel needs while it is written, whatever the C-like language: memories, ranges, what may
be reported, and the way from an op to the function that writes it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from cubepy.codegen.structured.body import Body
from cubepy.codegen.structured.expression import Expression, primary
from cubepy.codegen.structured.language import Language
from cubepy.codegen.structured.names import Names
from cubepy.codegen.structured.notes import Notes
from cubepy.codegen.structured.positions import Positions
from cubepy.errors import VerifyError
from cubepy.ir import Kernel, Op, OpDef, Ranges, Scalar, Trait, ops
from cubepy.target import Fault, Features, Print, Topic

__all__ = ["KernelLanguage", "SizedMemory"]


class SizedMemory(Protocol):
    """A memory as a language writes it: texts of its extents and strides."""

    @property
    def extents(self) -> tuple[str, ...]:
        """Elements along each axis."""

    @property
    def strides(self) -> tuple[str, ...]:
        """Elements from one to the next along each axis."""


M = TypeVar("M", bound=SizedMemory)
P = TypeVar("P", bound=Positions)


class KernelLanguage(Language, Generic[M, P]):
    """`functions` are the names of the kernel's helpers; `faults` and `prints` what the numbers in
    a report block stand for. `values` and `effects` write the ops that are named there.
    """

    title: ClassVar[str]
    values: ClassVar[Mapping[str, Callable[..., Expression]]]
    effects: ClassVar[Mapping[OpDef, Callable[..., None]]]
    atomic: ClassVar[Callable[[Any, Body, Op], None]]
    plane: ClassVar[Callable[[Any, Body, Op], None]]

    def __init__(
        self, kernel: Kernel, features: Features, names: Names, positions: P, ranges: Ranges
    ) -> None:
        self.kernel = kernel
        self.features = features
        self.names = names
        self.positions = positions
        self.ranges = ranges
        self.planes_emulated = features.emulates_planes(positions.plane_dim)
        self.functions: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.prints: list[Print] = []
        self.current_function = ""
        self.notes = Notes()
        self._memories: dict[Op, M] = {}

    def value(self, body: Body, op: Op, operands: Sequence[Expression]) -> Expression:
        """An op without effects."""
        row = op.opdef
        if row in (ops.LENGTH, ops.STRIDE):
            memory, axis = self._memories[op.operands[0]], op.attrs["axis"]
            assert isinstance(axis, int)
            return primary((memory.extents if row is ops.LENGTH else memory.strides)[axis])
        if row is ops.PLANE_DIM:
            return self.size(self.positions.plane_dim)
        if row.name in self.values:
            return self.values[row.name](self, body, op, operands)
        if not op.operands:
            return self.positions.expression(row.name)
        raise VerifyError(
            f"{self.title} has no {row.name}; a pass should have expanded it ({op.loc})"
        )

    @abstractmethod
    def size(self, value: int) -> Expression:
        """A number of units that is known while compiling."""

    def effect(self, body: Body, op: Op) -> None:
        """Statements of an op that touches memory or other units."""
        cls = type(self)
        handler = cls.effects.get(op.opdef)
        if handler is not None:
            handler(self, body, op)
        elif op.opdef.has(Trait.ATOMIC):
            cls.atomic(self, body, op)
        elif op.opdef.has(Trait.PLANE):
            self.notes.add(Topic.GANG, op, self._planes())
            cls.plane(self, body, op)
        else:
            raise VerifyError(f"{self.title} has no {op.opdef.name} ({op.loc})")

    def _planes(self) -> str:
        units = self.positions.plane_dim
        if units == 1:
            return "planes of one unit: nothing is exchanged"
        if self.planes_emulated:
            return f"planes of {units} units: through memory of the cube, with barriers"
        return f"planes of {units} units: the device's own"

    def result(self, whole: Expression, number: int) -> Expression:
        """One of several results."""
        return primary(f"{whole}.item_{number}")

    def memory(self, op: Op) -> M:
        """The memory that an op stands for."""
        return self._memories[op]

    def memories(self) -> Mapping[Op, M]:
        """All of them so far."""
        return self._memories

    def bind_memory(self, op: Op, memory: M) -> None:
        """Say what memory an op stands for."""
        self._memories[op] = memory

    def bounds(self, op: Op) -> tuple[int, int] | None:
        """Where an integer lies."""
        if op.opdef is ops.CONST:
            value = op.attrs["value"]
            return (value, value) if isinstance(value, int) else None
        if op in self.ranges.intervals:
            return self.ranges.intervals[op]
        scalar = op.type
        assert isinstance(scalar, Scalar)
        return (scalar.minimum, scalar.maximum) if scalar.is_integer else None
