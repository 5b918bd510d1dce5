"""How arguments lie in memory: plain, strided, reversed, broadcast, or overlapping one another."""

from __future__ import annotations

import random

from cubepy.ir import Scalar
from cubepy.records import dataclass, field
from cubepy.testing.generator.model import ArraySpec, BaseSpec, Feature
from cubepy.testing.generator.scope import Memory, MemoryKind

__all__ = ["Layout"]

CHUNK = 4  # elements of shared memory that belong to one unit, in all views of it


@dataclass(slots=True, kw_only=True)
class Layout:
    """The memory of a kernel's arguments, growing while they are added."""

    random: random.Random
    features: set[Feature]
    plain: bool = False
    bases: dict[str, BaseSpec] = field(default_factory=dict)
    arrays: list[ArraySpec] = field(default_factory=list)

    def add(
        self, name: str, element: Scalar, size: int, *, read_only: bool = False, format: str = ""
    ) -> None:
        """An array of its own memory; one that is only read may be broadcast."""
        strides = (1, 1, 1, 1, 1, 1, -1, 2, 3, -2) + ((0, 0) if read_only else ())
        stride = 1 if self.plain else self.random.choice(strides)
        if stride != 1:
            self.features.add(Feature.STRIDED)
        span = abs(stride) * (size - 1) + 1
        before, after = self.random.randrange(3), self.random.randrange(3)
        base = f"memory_{name}"
        self.bases[base] = BaseSpec(element=element, size=before + span + after, format=format)
        start = before + (span - 1 if stride < 0 else 0)
        self.arrays.append(
            ArraySpec(name=name, base=base, start=start, shape=(size,), strides=(stride,))
        )

    def add_tensor(self, name: str, element: Scalar, shape: tuple[int, ...]) -> None:
        """An array of two or three axes: the last fastest or another, or with gaps."""
        order, gap, step = list(reversed(range(len(shape)))), 0, 1
        if not self.plain:
            gap, step = self.random.choice(((0, 1), (0, 1), (3, 1), (0, 2)))
            if self.random.random() < 0.3:
                self.random.shuffle(order)
        strides, span = [0] * len(shape), step
        for axis in order:
            strides[axis] = span
            span = span * shape[axis] + gap
        if strides[-1] != 1:
            self.features.add(Feature.STRIDED)
        steps = (stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True))
        base = f"memory_{name}"
        self.bases[base] = BaseSpec(element=element, size=sum(steps) + 1)
        self.arrays.append(
            ArraySpec(name=name, base=base, start=0, shape=shape, strides=tuple(strides))
        )

    def overlapping(self, element: Scalar, units: int) -> list[Memory]:
        """Two views of one memory, in which each unit keeps to a chunk of its own."""
        self.features.add(Feature.OVERLAPPING)
        base, whole = "memory_o", CHUNK * units
        self.bases[base] = BaseSpec(element=element, size=whole)
        views = [
            ("o1", 0, whole, 1, f"i * {CHUNK} + {{k}}", CHUNK),
            self.random.choice(
                (
                    ("o2", 1, whole - 1, 1, f"i * {CHUNK} + {{k}}", CHUNK - 1),
                    ("o2", 0, whole // 2, 2, f"i * {CHUNK // 2} + {{k}}", CHUNK // 2),
                    ("o2", whole - 1, whole, -1, f"{whole - 1} - (i * {CHUNK} + {{k}})", CHUNK),
                    ("o2", 0, whole, 1, f"i * {CHUNK} + {{k}}", CHUNK),
                )
            ),
        ]
        memories = []
        for name, start, size, stride, own, count in views:
            if stride != 1:
                self.features.add(Feature.STRIDED)
            self.arrays.append(
                ArraySpec(name=name, base=base, start=start, shape=(size,), strides=(stride,))
            )
            memories.append(
                Memory(name=name, element=element, kind=MemoryKind.OWN, own=own, count=count)
            )
        return memories
