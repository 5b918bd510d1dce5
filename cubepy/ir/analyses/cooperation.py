"""Whether barriers and plane ops stand where every unit they need gets to.

A barrier needs control flow that is uniform over the cube, a plane op over the plane; neither may
follow a `return`, `break` or `continue` that only some units take. The rule is the language's, the
same for every target: only what can be shown uniform counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.errors import Diagnostic, UniformityError
from cubepy.ir import ops
from cubepy.ir.analyses.uniformity import (
    UNIFORM,
    VARYING,
    Shape,
    Uniformity,
    analyze_uniformity,
)
from cubepy.ir.nodes import Kernel, Op, Region, walk
from cubepy.ir.opdef import Trait
from cubepy.ir.types import BufferType
from cubepy.records import dataclass

__all__ = ["analyze_cube", "check_cooperation"]

_PLANE_PLACES = (ops.PLANE_POS,)


def _written(kernel: Kernel) -> set[Op]:
    """Buffers the kernel writes."""
    return {
        op.operands[0] for op in walk(kernel.body) if op.opdef.has(Trait.WRITES) and op.operands
    }


def analyze_cube(kernel: Kernel) -> Uniformity:
    """Uniformity over a whole cube of a kernel whose helpers are inlined."""
    written = _written(kernel)

    def seed(op: Op) -> Shape:
        return VARYING if op.opdef.has(Trait.VARYING) else UNIFORM

    def never_written(memory: Op) -> bool:
        return isinstance(memory.type, BufferType) and memory not in written

    return analyze_uniformity(
        kernel.body,
        params=kernel.params,
        seed=seed,
        uniform_load=never_written,
        plane_results=VARYING,
    )


def _analyze_plane(kernel: Kernel) -> Uniformity:
    """As `analyze_cube`, for one plane: plane positions and results of plane ops are uniform
    too.
    """
    written = _written(kernel)

    def seed(op: Op) -> Shape:
        if op.opdef in _PLANE_PLACES:
            return UNIFORM
        return VARYING if op.opdef.has(Trait.VARYING) else UNIFORM

    return analyze_uniformity(
        kernel.body,
        params=kernel.params,
        seed=seed,
        uniform_load=lambda memory: isinstance(memory.type, BufferType) and memory not in written,
        plane_results=UNIFORM,
    )


# Plane operations that leave lanes out where they are told to.
_TAKE_WHERE = frozenset(
    f"plane_{name}"
    for name in ("sum", "prod", "min", "max", "inclusive_sum", "exclusive_sum", "inclusive_prod",
                 "exclusive_prod", "all", "any", "ballot")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """What keeps units from getting to a place together."""

    op: Op
    text: str


def check_cooperation(kernel: Kernel, *, planes_as_cubes: bool = False) -> None:
    """Raise UniformityError, with every misplaced barrier and plane op, unless all stand well.

    `planes_as_cubes`: plane ops are made of barriers, so all units of the cube must get to them.
    """
    barriers = any(op.opdef.has(Trait.BARRIER) for op in walk(kernel.body))
    planes = any(op.opdef.has(Trait.PLANE) for op in walk(kernel.body))
    found: list[Diagnostic] = []
    if barriers:
        found += _complaints(kernel, analyze_cube(kernel), Trait.BARRIER, "cube")
    if planes:
        found += _complaints(kernel, _analyze_plane(kernel), Trait.PLANE, "plane")
    if planes and planes_as_cubes and not found:
        found += _complaints(kernel, analyze_cube(kernel), Trait.PLANE, "cube")
    if found:
        raise UniformityError(found)


def _complaints(
    kernel: Kernel, analysis: Uniformity, trait: Trait, group: str
) -> Iterator[Diagnostic]:
    for op, obstacle in _Walk(analysis, trait).region(kernel.body, None):
        yield _diagnostic(op, obstacle, group)


def _diagnostic(op: Op, obstacle: _Obstacle, group: str) -> Diagnostic:
    name = op.opdef.name
    if group == "cube" and obstacle.op.opdef in (ops.FOR, ops.WHILE):
        remedy = (
            "let every unit make as many trips: make what ends the loop one value for all with "
            "cb.cube_uniform, or move it out"
        )
    elif group == "cube":
        remedy = "let every unit reach it: move it out, and guard the loads and stores instead"
    elif name in _TAKE_WHERE:
        remedy = f"move it out, and say who takes part: cb.{op.opdef.python}(…, where=condition)"
    else:
        remedy = "let every unit reach it: move it out, and use its result inside"
    return Diagnostic(
        message=f"`{name}` needs control flow that is the same for every unit of the {group}",
        loc=op.loc,
        notes=((obstacle.text, obstacle.op.loc),),
        help=remedy,
    )


@dataclass(slots=True)
class _Walk:
    """Finds cooperative ops behind an obstacle; `thinned` obstacles last to the end of their
    scope.
    """

    analysis: Uniformity
    trait: Trait

    def region(self, region: Region, obstacle: _Obstacle | None) -> Iterator[tuple[Op, _Obstacle]]:
        for op in region.ops:
            if op.opdef.has(self.trait) and obstacle is not None:
                yield op, obstacle
            yield from self.control(op, obstacle)
            if op in self.analysis.thins and obstacle is None:
                obstacle = self.leaver(op)

    def control(self, op: Op, obstacle: _Obstacle | None) -> Iterator[tuple[Op, _Obstacle]]:
        if not op.regions:
            return
        inner = obstacle
        if inner is None and op in self.analysis.divergent:
            inner = self.why(op)
        elif inner is None and op in self.analysis.parted_continue:
            inner = self.leaver(op)
        for region in op.regions:
            yield from self.region(region, inner)

    def why(self, op: Op) -> _Obstacle | None:
        """Why the units of a divergent construct part."""
        if op.opdef is ops.IF:
            return _Obstacle(op, "this branch can differ between units")
        if op.opdef is ops.BLOCK:
            return None  # only what follows the parting `leave` inside is in the way
        if op in self.analysis.parted_break:
            return self.leaver(op)
        return _Obstacle(op, "the number of trips of this loop can differ between units")

    def leaver(self, op: Op) -> _Obstacle:
        """The exit that only some units take."""
        for region in op.regions:
            for inner in walk(region):
                leaves = inner.opdef.has(Trait.EXIT) and inner.opdef is not ops.YIELD
                if leaves and inner not in self.analysis.jumps:
                    word = "return" if inner.opdef is ops.LEAVE else inner.opdef.name
                    return _Obstacle(inner, f"some units leave here by `{word}`")
        return _Obstacle(op, "some units leave here")
