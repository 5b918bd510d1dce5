"""Barriers and plane ops: what the units of a cube or a plane do together.

A plane is a row of `plane_dim` lanes; lanes that a partial last plane lacks, and units that are not
active, count as missing. A float sum or product is a balanced tree over neighbouring lanes: first 0
with 1, 2 with 3 and so on, then those results in the same way. Scans go in the order of the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cubepy.errors import Diagnostic, DivergentBarrierError
from cubepy.interp.accesses import Handler
from cubepy.interp.masks import Mask, Value, lanes_of
from cubepy.interp.memory import place_of
from cubepy.interp.state import State
from cubepy.ir import (
    NO_ATTRS,
    PLANE_REDUCTIONS,
    PLANE_SCANS,
    Evaluate,
    Op,
    OpDef,
    Scalar,
    neutral_of,
    ops,
    scalar_type,
)

__all__ = ["HANDLERS"]

FAR = 1 << 32  # lane numbers beyond it mean no lane anyway


def sync_cube(state: State, op: Op, mask: Mask) -> None:
    """All units of each cube, or none of it, pass; what they did before is ordered."""
    state.clock.cubes[_cubes_arrived(state, op, mask)] += 1


def sync_storage(state: State, op: Op, mask: Mask) -> None:
    """As `sync_cube`, for what was done to global memory."""
    state.clock.storage[_cubes_arrived(state, op, mask)] += 1


def _cubes_arrived(state: State, op: Op, mask: Mask) -> Value:
    active = _by_cube(state, mask)
    arrived = _groups(state, op, mask, active, "cube")
    lanes = state.batch.all_lanes.reshape(active.shape)
    _met(state, [row[here] for row, here in zip(lanes, active, strict=True) if here.any()])
    return arrived


def _met(state: State, groups: list[Value]) -> None:
    if state.clock.orders is not None:
        state.clock.orders.barrier(groups)


def fence(state: State, op: Op, mask: Mask) -> None:
    """Gives the order to the atomics around it."""
    if state.clock.orders is not None:
        state.clock.orders.fence(lanes_of(mask, state.batch.all_lanes))


def sync_plane(state: State, op: Op, mask: Mask) -> None:
    """As `sync_cube`, for planes."""
    active = _to_planes(state, _as_array(state, mask), fill=False)
    state.clock.planes[_groups(state, op, mask, active, "plane")] += 1
    lanes = _to_planes(state, state.batch.all_lanes, fill=0)
    _met(state, [row[here] for row, here in zip(lanes, active, strict=True) if here.any()])


def cube_uniform(state: State, op: Op, mask: Mask) -> None:
    """The value of unit 0, in every unit of its cube."""
    _groups(state, op, mask, _by_cube(state, mask), "cube")
    value: Value = state.values[op.operands[0]]
    if value.ndim:
        first = value.reshape(state.batch.count, state.batch.units)[:, 0]
        value = first[0] if state.batch.count == 1 else np.repeat(first, state.batch.units)
    state.values[op] = np.asarray(value)


def _as_array(state: State, mask: Mask) -> Value:
    if not isinstance(mask, bool):
        return mask
    every: Value = np.full(state.batch.lanes, mask)
    return every


def _by_cube(state: State, mask: Mask) -> Value:
    return _as_array(state, mask).reshape(state.batch.count, state.batch.units)


def _groups(state: State, op: Op, mask: Mask, active: Value, group: str) -> Value:
    """Which cubes (or planes) are here; reports one of which only a part is."""
    some: Value = np.asarray(active.any(axis=1))
    if mask is True or not state.reports.barriers:
        return some
    missing = some[:, None] & ~active
    if group == "plane":
        missing &= _to_planes(state, np.asarray(True), fill=False)
    if missing.any():
        row, column = (int(place[0]) for place in np.nonzero(missing))
        raise DivergentBarrierError(_divergent(state, op, active[row], row, column, group))
    return some


def _divergent(
    state: State, op: Op, active: Value, row: int, column: int, group: str
) -> Diagnostic:
    batch = state.batch
    cube, plane = divmod(row, batch.planes) if group == "plane" else (row, 0)
    start = cube * batch.units + plane * batch.plane_dim
    size = min(active.size, batch.units - plane * batch.plane_dim)
    here = batch.name(start + int(np.argmax(active)))
    parting = state.parting(start + column)
    absent = batch.name(start + column)
    return Diagnostic(
        message=f"`{op.opdef.name}` is reached by {active.sum()} of {size} units of a {group}: "
        f"{here} is there, {absent} is not",
        loc=place_of(op, state.calls),
        notes=() if parting is None else (parting,),
        help=f"let every unit of the {group} reach it; guard the loads and stores instead",
    )


# ── planes ────────────────────────────────────────────────────────────────────────────────────


def _to_planes(state: State, value: Value, *, fill: Any) -> Value:
    """One row for each plane; missing lanes of a partial one are `fill`."""
    batch = state.batch
    width = batch.planes * batch.plane_dim
    whole = np.broadcast_to(value, (batch.lanes,)).reshape(batch.count, batch.units)
    if width != batch.units:
        padded = np.full((batch.count, width), fill, dtype=value.dtype)
        padded[:, : batch.units] = whole
        whole = padded
    return whole.reshape(batch.count * batch.planes, batch.plane_dim)


def _from_planes(state: State, rows: Value) -> Value:
    """Back to one value a unit."""
    batch = state.batch
    whole = rows.reshape(batch.count, batch.planes * batch.plane_dim)
    return np.ascontiguousarray(whole[:, : batch.units]).reshape(batch.lanes)


Combine = Callable[[Value, Value], Value]
OnPlanes = Callable[[Op, list[Value], Value], Value]


def _on_planes(compute: OnPlanes) -> Handler:
    """A handler from a function of op, operands and activity, all in rows of lanes."""

    def handler(state: State, op: Op, mask: Mask) -> None:
        active = _to_planes(state, _as_array(state, mask), fill=False)
        _groups(state, op, mask, active, "plane")
        operands = [_to_planes(state, state.values[o], fill=0) for o in op.operands]
        state.values[op] = _from_planes(state, compute(op, operands, active))

    return handler


def _combine(opdef: OpDef, type: Scalar) -> Combine:
    evaluate = opdef.evaluate
    assert evaluate is not None
    chosen: Evaluate = evaluate
    return lambda low, high: chosen(low, high, type=type, attrs=NO_ATTRS)


def _neutral(opdef: OpDef, type: Scalar) -> Value:
    return np.asarray(neutral_of(opdef, type)).astype(type.numpy)


def _reduction(opdef: OpDef) -> Handler:
    def compute(op: Op, operands: list[Value], active: Value) -> Value:
        combine = _combine(opdef, scalar_type(op))
        left = np.where(active, operands[0], _neutral(opdef, scalar_type(op)))
        while left.shape[1] > 1:
            even = left.shape[1] // 2 * 2
            pairs = combine(left[:, 0:even:2], left[:, 1:even:2])
            left = np.concatenate([pairs, left[:, even:]], axis=1)
        return np.broadcast_to(left, active.shape)

    return _on_planes(compute)


def _scan(opdef: OpDef, empty: int | None = None) -> Handler:
    """Inclusive, or exclusive with the value `empty` in lane 0."""

    def compute(op: Op, operands: list[Value], active: Value) -> Value:
        combine = _combine(opdef, scalar_type(op))
        sums = np.where(active, operands[0], _neutral(opdef, scalar_type(op)))
        for lane in range(1, sums.shape[1]):
            sums[:, lane] = combine(sums[:, lane - 1], sums[:, lane])
        if empty is None:
            return sums
        first = np.full((sums.shape[0], 1), empty).astype(sums.dtype)
        return np.concatenate([first, sums[:, :-1]], axis=1)

    return _on_planes(compute)


def _from_lane(source: Callable[[Value, Value], Value]) -> Handler:
    """The value of the lane that `source` makes of own lane and operand; missing: the own value."""

    def compute(op: Op, operands: list[Value], active: Value) -> Value:
        value, operand = operands
        width = value.shape[1]
        number = np.clip(operand, -FAR if operand.dtype.kind == "i" else 0, _most(operand))
        lane = source(np.arange(width), number.astype(np.int64))
        there = (lane >= 0) & (lane < width)
        lane = np.where(there, lane, 0)
        there &= np.take_along_axis(active, lane, axis=1)
        return np.where(there, np.take_along_axis(value, lane, axis=1), value)

    return _on_planes(compute)


def _most(operand: Value) -> int:
    return min(FAR, int(np.iinfo(operand.dtype).max))


def _all(op: Op, operands: list[Value], active: Value) -> Value:
    return np.broadcast_to((operands[0] | ~active).all(axis=1, keepdims=True), active.shape)


def _any(op: Op, operands: list[Value], active: Value) -> Value:
    return np.broadcast_to((operands[0] & active).any(axis=1, keepdims=True), active.shape)


def _ballot(op: Op, operands: list[Value], active: Value) -> Value:
    lanes = np.arange(min(64, active.shape[1]), dtype=np.uint64)
    bits = (operands[0] & active)[:, : lanes.size].astype(np.uint64) << lanes
    return np.broadcast_to(bits.sum(axis=1, keepdims=True, dtype=np.uint64), active.shape)


def _elect(op: Op, operands: list[Value], active: Value) -> Value:
    return np.asarray(active & (np.cumsum(active, axis=1) == 1))


HANDLERS: Mapping[OpDef, Handler] = {
    ops.SYNC_CUBE: sync_cube,
    ops.SYNC_STORAGE: sync_storage,
    ops.FENCE: fence,
    ops.SYNC_PLANE: sync_plane,
    ops.CUBE_UNIFORM: cube_uniform,
    **{row: _reduction(combine) for row, combine in PLANE_REDUCTIONS.items()},
    **{row: _scan(*scan) for row, scan in PLANE_SCANS.items()},
    ops.PLANE_BROADCAST: _from_lane(lambda own, lane: lane),
    ops.PLANE_SHUFFLE: _from_lane(lambda own, lane: lane),
    ops.PLANE_SHUFFLE_XOR: _from_lane(lambda own, operand: own ^ operand),
    ops.PLANE_SHUFFLE_UP: _from_lane(lambda own, operand: own - operand),
    ops.PLANE_SHUFFLE_DOWN: _from_lane(lambda own, operand: own + operand),
    ops.PLANE_ALL: _on_planes(_all),
    ops.PLANE_ANY: _on_planes(_any),
    ops.PLANE_BALLOT: _on_planes(_ballot),
    ops.PLANE_ELECT: _on_planes(_elect),
}
