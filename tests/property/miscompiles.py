"""Twelve and more realistic mistakes of a CPU emitter, each planted by replacing one function.

Every mistake keeps the emitted LLVM IR valid. They exist to show that the random kernels find such
mistakes: see `test_planted_miscompiles.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from cubepy.codegen.llvm import (
    address,
    bounds,
    control,
    elementwise,
    entry,
    guards,
    plane,
    plane_reductions,
    segments,
    walk,
)
from cubepy.codegen.llvm.frame import Frame
from cubepy.codegen.llvm.gang import Gang, Mask, Scope
from cubepy.codegen.llvm.guards import _Guard
from cubepy.codegen.llvm.lanes import Lanes
from cubepy.ir import Op, Scalar, StrideClass, Trait, ops
from cubepy.ir.analyses import assumptions, uniformity
from cubepy.testing import Feature

__all__ = ["MISCOMPILES", "Miscompile"]

Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Miscompile:
    """A mistake; only kernels with all of `needs` can show it, so only those are compiled.

    `seen`: a seed whose kernel showed it, which is tried ahead of the others.
    """

    name: str
    plant: Plant
    needs: frozenset[Feature] = frozenset()
    seen: int = 0


MISCOMPILES: list[Miscompile] = []


def miscompile(name: str, *needs: Feature, seen: int = 0) -> Callable[[Plant], Plant]:
    """Enter a mistake into the list."""

    def add(plant: Plant) -> Plant:
        MISCOMPILES.append(Miscompile(name=name, plant=plant, needs=frozenset(needs), seen=seen))
        return plant

    return add


# ── masks ───────────────────────────────────────────────────────────────────────────────────────


@miscompile("mask not restored after a loop left by break", Feature.DIVERGENT_EXIT)
def mask_not_restored(patch: pytest.MonkeyPatch) -> None:
    opened: dict[Op, Scope] = {}
    plain_open, plain_finish = control._open_scope, control._finish

    def open_scope(gang: Gang, op: Op, next_label: str, end: str) -> Scope:
        opened[op] = plain_open(gang, op, next_label, end)
        return opened[op]

    def finish(gang: Gang, op: Op, mask: Mask) -> None:
        if op in opened and opened[op].alive and op in gang.analysis.parted_break:
            mask = gang.load_mask(opened[op].alive)
        plain_finish(gang, op, mask)

    patch.setattr(control, "_open_scope", open_scope)
    patch.setattr(control, "_finish", finish)


@miscompile("mask of an else arm not complemented")
def else_not_complemented(patch: pytest.MonkeyPatch) -> None:
    plain_arm = control._masked_arm

    def parting_if(gang: Gang, op: Op) -> None:
        mask, condition = gang.mask, gang.vectors(op.operands[0])
        plain_arm(gang, op.regions[0], gang.mask_and(mask, condition))
        if op.regions[1].ops:
            plain_arm(gang, op.regions[1], gang.mask_parts(mask))
        control._finish(gang, op, mask)

    plain_if = control._parting_if

    def choose(gang: Gang, op: Op) -> None:
        (plain_if if control._only_leaves(op) else parting_if)(gang, op)

    patch.setattr(control, "_parting_if", choose)


def _take_out(patch: pytest.MonkeyPatch, leaves: Callable[[Op, Scope, Scope, Gang], bool]) -> None:
    """Replace what an exit does to the scopes it leaves: `leaves` says whether lanes leave one."""

    def take_out(gang: Gang, op: Op, going: tuple[str, ...]) -> None:
        target = control._target(gang, op)
        for scope in reversed(gang.scopes):
            if scope.trip and (scope is target or leaves(op, scope, target, gang)):
                gang.store_mask(scope.trip, gang.mask_and_not(gang.load_mask(scope.trip), going))
            separate = scope.alive and scope.alive != scope.trip
            if separate and leaves(op, scope, target, gang):
                gang.store_mask(scope.alive, gang.mask_and_not(gang.load_mask(scope.alive), going))
            if scope is target:
                break

    patch.setattr(control, "_take_out", take_out)


@miscompile("continue treated as break", Feature.DIVERGENT_CONTINUE, seen=359)
def continue_as_break(patch: pytest.MonkeyPatch) -> None:
    _take_out(patch, lambda op, scope, target, gang: True)


@miscompile("early return lost in an outer loop", Feature.DIVERGENT_EXIT, Feature.RETURN, seen=313)
def return_lost_in_outer_loop(patch: pytest.MonkeyPatch) -> None:
    def leaves(op: Op, scope: Scope, target: Scope, gang: Gang) -> bool:
        if scope is target:
            return op.opdef is not ops.CONTINUE
        innermost = next(each for each in reversed(gang.scopes) if each.trip)
        return op.opdef not in (ops.RETURN, ops.LEAVE) or scope is innermost

    _take_out(patch, leaves)


@miscompile("partial last gang taken as full")
def partial_gang_full(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(entry, "entry_mask", lambda gang: None)
    patch.setattr(segments._Segments, "entry_mask", lambda self, gang: None)


@miscompile("lanes missing from a partial plane take part", Feature.PLANE)
def missing_lanes_take_part(patch: pytest.MonkeyPatch) -> None:
    def existing(gang: Gang, number: int, scalar: Scalar, value: str, missing: float) -> str:
        return value

    patch.setattr(plane, "existing", existing)
    patch.setattr(plane_reductions, "existing", existing)


# ── variables ───────────────────────────────────────────────────────────────────────────────────


@miscompile("blend omitted")
def blend_omitted(patch: pytest.MonkeyPatch) -> None:
    def no_blend(gang: Gang, scalar: Scalar, new: str, old: str, mask: str) -> str:
        return new

    patch.setattr(walk, "_blend", no_blend)


@miscompile("loop-carried variable taken as uniform", Feature.DIVERGENT_LOOP)
def carried_variable_uniform(patch: pytest.MonkeyPatch) -> None:
    plain = uniformity._Analysis.needs_blend

    def needs_blend(self: Any, slot: Op) -> bool:
        loops = {scope.op for scope in self.stack if scope.op.opdef in (ops.FOR, ops.WHILE)}
        divergent = self.result.divergent
        self.result.divergent = divergent - loops
        try:
            return plain(self, slot)
        finally:
            self.result.divergent = divergent

    patch.setattr(uniformity._Analysis, "needs_blend", needs_blend)


@miscompile("cube-level variable stored inside the loop over gangs", Feature.BARRIER_IN_LOOP)
def cube_level_store_in_gang_loop(patch: pytest.MonkeyPatch) -> None:
    plain = segments._Segments.cube_pass

    def cube_pass(self: Any, op: Op) -> bool:
        done = plain(self, op)
        if op.opdef is ops.STORE_LOCAL and op.operands[0] in self.level.slots:
            for _ in range(self.module.layout.gangs - 1):
                again(self, op.operands[1], op.operands[0])
                walk.emit_op(self.cube, op)
        return done

    def again(self: Any, value: Op, slot: Op) -> bool:
        """Compute a value anew from what the variable is now; whether it depends on it."""
        if value.opdef is ops.LOAD_LOCAL:
            depends = value.operands[0] is slot
        elif value.opdef.has(Trait.PURE) and value in self.level.values:
            parts = [again(self, operand, slot) for operand in value.operands]
            depends = any(parts)
        else:
            return False
        if depends and value in self.cube.values:
            del self.cube.values[value]
            walk.emit_op(self.cube, value)
        return depends

    patch.setattr(segments._Segments, "cube_pass", cube_pass)


@miscompile("variable not kept from one barrier segment to the next", Feature.BARRIER)
def variable_not_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(segments._Segments, "framed", lambda self, slot: False)


@miscompile("all gangs keep their values in one place", Feature.BARRIER)
def one_place_for_all_gangs(patch: pytest.MonkeyPatch) -> None:
    plain = Frame._pointers

    def pointers(self: Frame, gang: Gang, key: Op, size: int, components: int) -> list[str]:
        place = gang.place
        gang.place = {**place, "gang": "0"}
        try:
            return plain(self, gang, key, size, components)
        finally:
            gang.place = place

    patch.setattr(Frame, "_pointers", pointers)


# ── memory ──────────────────────────────────────────────────────────────────────────────────────


@miscompile("lower bounds check dropped")
def lower_bound_dropped(patch: pytest.MonkeyPatch) -> None:
    plain = bounds.position_offset

    def offset(op: Op, depth: int = 8) -> int | None:
        found = plain(op, depth)
        return None if found is None else abs(found)

    patch.setattr(bounds, "position_offset", offset)


@miscompile("interval check off by one", seen=29)
def interval_off_by_one(patch: pytest.MonkeyPatch) -> None:
    plain = _Guard.require
    patch.setattr(
        _Guard,
        "require",
        lambda self, test: plain(self, test.replace("icmp slt", "icmp sle")),
    )


@miscompile("affine stride wrong for reversed arrays", Feature.STRIDED)
def stride_of_reversed_arrays(patch: pytest.MonkeyPatch) -> None:
    def strides(memory: Op) -> list[int | None]:
        known = plain(memory)
        return [None if stride is None else abs(stride) for stride in known]

    plain = address._strides
    assert address._KNOWN[StrideClass.MINUS_ONE] == -1
    patch.setattr(address, "_strides", strides)


@miscompile("stride of a difference has the wrong sign")
def difference_stride(patch: pytest.MonkeyPatch) -> None:
    plain = uniformity._Analysis._affine

    def affine(self: Any, op: Op, shapes: list[uniformity.Shape]) -> uniformity.Shape:
        if op.opdef is ops.SUB:
            return uniformity.part(shapes[0].stride + shapes[1].stride)
        return plain(self, op, shapes)

    patch.setattr(uniformity._Analysis, "_affine", affine)


# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────


@miscompile("signed comparisons made unsigned")
def signed_as_unsigned(patch: pytest.MonkeyPatch) -> None:
    def unsigned(name: str) -> elementwise.Emit:
        plain = elementwise.ELEMENTWISE[name]

        def emit(lanes: Lanes, op: Op, args: Sequence[str]) -> str:
            scalar = op.operands[0].type
            assert isinstance(scalar, Scalar)
            if scalar.is_signed and not scalar.is_float:
                return lanes.compare(f"icmp u{name}", scalar, args[0], args[1])
            return plain(lanes, op, args)

        return emit

    for name in ("lt", "le", "gt", "ge"):
        patch.setitem(elementwise.ELEMENTWISE, name, unsigned(name))


@miscompile("large unsigned taken as signed", Feature.LARGE, seen=174)
def large_unsigned_as_signed(patch: pytest.MonkeyPatch) -> None:
    """The tests before fast versions reckon in i64, where such a number is negative."""

    def fits(value: object) -> bool:
        return isinstance(value, int) and -(1 << 63) <= value < 1 << 64

    patch.setattr(assumptions, "fits", fits)
    patch.setattr(guards, "fits", fits)
