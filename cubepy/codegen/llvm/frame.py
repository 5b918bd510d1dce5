"""Memory in the arena for what lives from one segment to the next, one place a gang.

A value has components (one scalar, one a part, or one vector a part); component i of gang g lies at
base + (g * components + i) * size.
"""

from __future__ import annotations

from cubepy.codegen.llvm.gang import Gang, Module
from cubepy.codegen.llvm.types import register_type
from cubepy.ir import BOOL, Op, Scalar
from cubepy.ir.analyses import Shape
from cubepy.records import dataclass, field

__all__ = ["Frame"]


@dataclass(slots=True)
class Frame:
    """Places by key. `offsets` are in the arena; the size of a key never changes."""

    module: Module
    offsets: dict[Op, int] = field(default_factory=dict)

    def _pointers(self, gang: Gang, key: Op, size: int, components: int) -> list[str]:
        if key not in self.offsets:
            self.offsets[key] = self.module.arena_bytes
            self.module.arena_bytes += -(-size * components * gang.layout.gangs // 64) * 64
        number = gang.place["gang"]
        step = size * components
        w = gang.w
        start = w.value(f"add i64 {w.value(f'mul i64 {number}, {step}')}, {self.offsets[key]}")
        first = w.value(f"getelementptr i8, ptr %arena, i64 {start}")
        return [
            first if index == 0 else w.value(f"getelementptr i8, ptr {first}, i64 {index * size}")
            for index in range(components)
        ]

    def _component(self, gang: Gang, shape: Shape, scalar: Scalar) -> tuple[str, int]:
        """Type and size of a component in memory."""
        if shape.level < 2:
            return register_type(scalar), 8
        if scalar is BOOL:
            return gang.vec.integer(8), max(8, gang.layout.lanes)
        return gang.vec.type(scalar), max(8, gang.layout.lanes * scalar.size)

    def store(
        self, gang: Gang, key: Op, shape: Shape, scalar: Scalar, names: tuple[str, ...]
    ) -> None:
        """Keep a value."""
        type, size = self._component(gang, shape, scalar)
        pointers = self._pointers(gang, key, size, len(names))
        for pointer, name in zip(pointers, names, strict=True):
            kept = name
            if shape.level == 2 and scalar is BOOL:
                kept = gang.w.value(f"zext {gang.mask_type} {name} to {type}")
            gang.w.line(f"store {type} {kept}, ptr {pointer}, align 8")

    def load(self, gang: Gang, key: Op, shape: Shape, scalar: Scalar) -> tuple[str, ...]:
        """The kept value."""
        type, size = self._component(gang, shape, scalar)
        pointers = self._pointers(gang, key, size, gang.components(shape))
        names = tuple(gang.w.value(f"load {type}, ptr {pointer}, align 8") for pointer in pointers)
        if shape.level == 2 and scalar is BOOL:
            return tuple(gang.w.value(f"icmp ne {type} {name}, zeroinitializer") for name in names)
        return names

    def array(self, gang: Gang, key: Op, size: int) -> tuple[str, ...]:
        """Memory of `size` bytes for each part of the gang."""
        return tuple(self._pointers(gang, key, size, gang.parts))
