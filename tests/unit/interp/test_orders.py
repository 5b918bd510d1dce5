"""Acquire, release and fences: what they order is no race, and nothing else is ordered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Array, Comptime, i32
from cubepy.errors import DataRaceError
from cubepy.interp.batch import Batch
from cubepy.interp.orders import Orders
from cubepy.ir import I32, BufferType, Builder, Op, StrideClass, ops, param
from cubepy.runtime import Grid

UNITS = 4
EVERYWHERE = "reference:4+races=all"


# ── against the definition: reachability in the graph of what happened ───────────────────────────


@dataclass(frozen=True)
class Event:
    """What a unit did: "load", "store", "add", "fence", "access", or all units a "barrier"."""

    kind: str
    unit: int
    cell: int
    order: str


def _atomic(kind: str, orders: Sequence[str]) -> st.SearchStrategy[Event]:
    return st.builds(
        Event, st.just(kind), st.integers(0, UNITS - 1), st.integers(0, 1), st.sampled_from(orders)
    )


EVENTS = st.lists(
    st.one_of(
        _atomic("load", ["relaxed", "acquire"]),
        _atomic("store", ["relaxed", "release"]),
        _atomic("add", ["relaxed", "acquire", "release", "acq_rel"]),
        _atomic("fence", [""]),
        _atomic("access", [""]),
        _atomic("access", [""]),
        _atomic("barrier", [""]),
    ),
    max_size=40,
)


def reached(events: Sequence[Event]) -> np.ndarray:
    """Whether event i happens before event j, from program order and what synchronises."""
    count = len(events)
    before = np.zeros((count, count), dtype=bool)
    last: dict[int, int] = {}
    fences: dict[int, int] = {}
    sources: dict[int, frozenset[int]] = {0: frozenset(), 1: frozenset()}
    waiting: dict[int, set[int]] = {unit: set() for unit in range(UNITS)}
    for now, event in enumerate(events):
        units = range(UNITS) if event.kind == "barrier" else [event.unit]
        causes = {last[unit] for unit in units if unit in last}
        if event.kind == "fence":
            causes |= waiting[event.unit]
        if event.kind in ("load", "add"):
            if event.order in ("acquire", "acq_rel"):
                causes |= sources[event.cell]
            else:
                waiting[event.unit] |= sources[event.cell]
        for cause in causes:
            before[cause, now] = True
            before[:, now] |= before[:, cause]
        if event.kind in ("store", "add"):
            own = {now} if event.order in ("release", "acq_rel") else set()
            own |= {fences[event.unit]} if event.unit in fences else set()
            kept = sources[event.cell] if event.kind == "add" else frozenset()
            sources[event.cell] = kept | own
        if event.kind == "fence":
            fences[event.unit] = now
        for unit in units:
            last[unit] = now
    return before


def _ops() -> dict[str, Callable[[str], Op]]:
    memory = param("x", BufferType(I32, (StrideClass.ONE,)))

    def make(kind: str, order: str) -> Op:
        build = Builder()
        with build.region():
            at = build.index(0)
            value = build.emit(ops.CONST, attrs={"type": I32, "value": 1})
            row = {"load": ops.ATOMIC_LOAD, "store": ops.ATOMIC_STORE, "add": ops.ATOMIC_ADD}[kind]
            operands = (memory, at) if kind == "load" else (memory, at, value)
            return build.emit(row, *operands, attrs={"order": order, "check": "checked"})

    return {kind: partial(make, kind) for kind in ("load", "store", "add")}


@given(events=EVENTS, whole=st.booleans())
@settings(max_examples=400)
def test_ordered_is_what_can_be_reached(events: list[Event], *, whole: bool) -> None:
    grid = Grid(cube_count=(1, 1, 1), extent=(UNITS, 1, 1))
    batch = Batch(grid=grid, cube_dim=(UNITS, 1, 1), plane_dim=4, first=0, count=1)
    orders, make = Orders(batch, whole=whole), _ops()
    before = reached(events)
    accesses: list[tuple[int, int, int]] = []
    for now, event in enumerate(events):
        lanes = np.array([event.unit])
        if event.kind == "barrier":
            orders.barrier([np.arange(UNITS)])
        elif event.kind == "fence":
            orders.fence(lanes)
        elif event.kind != "access":
            orders.atomic(make[event.kind](event.order), 0, np.array([event.cell]), lanes)
            orders.settle()
        else:
            for earlier, unit, time in accesses:
                if unit != event.unit:
                    found = orders.ordered(np.array([unit]), np.array([time]), lanes)
                    assert bool(found[0]) == before[earlier, now], (events[earlier], event)
            accesses.append((now, event.unit, int(orders.time_of(lanes)[0])))


# ── kernels ──────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def pass_on(
    data: Array[i32], flags: Array[i32], out: Array[i32], store: Comptime[str], load: Comptime[str],
    fences: Comptime[bool],
) -> None:  # fmt: skip
    """Each cube writes, says so, and reads what the cube before it wrote."""
    cube = cb.CUBE_POS
    data[cube] = i32(cube) + 10
    if fences:
        cb.fence("device")
    cb.atomic_store(flags, cube, 1, order=store)
    if cube > 0:
        seen = cb.atomic_load(flags, cube - 1, order=load)
        if fences:
            cb.fence()
        if seen == 1:
            out[cube] = data[cube - 1]


@pytest.mark.parametrize("fences", [False, True])
@pytest.mark.parametrize("store", ["relaxed", "release"])
@pytest.mark.parametrize("load", ["relaxed", "acquire"])
def test_messages_between_cubes(store: str, load: str, *, fences: bool) -> None:
    def run(device: str) -> np.ndarray:
        data, flags, out = (np.zeros(5, np.int32) for _ in range(3))
        pass_on.launch(
            data, flags, out, store, load, fences, cube_count=5, cube_dim=1, device=device
        )
        return out

    if fences or (store, load) == ("release", "acquire"):
        assert (run(EVERYWHERE) == [0, 10, 11, 12, 13]).all()
    else:
        with pytest.raises(DataRaceError, match="cubes run in any order"):
            run(EVERYWHERE)
    got = run("cpu")
    assert ((got == 0) | (got == [0, 10, 11, 12, 13])).all()


@cb.cube
def chain(data: Array[i32], out: Array[i32], order: Comptime[str]) -> None:
    """In one cube, through shared memory: unit after unit by an atomic that all update."""
    part = cb.shared(i32, cb.CUBE_DIM)
    turn = cb.shared(i32, 1)
    if cb.UNIT_POS == 0:
        turn[0] = 0
    cb.sync_cube()
    part[cb.UNIT_POS] = data[cb.UNIT_POS]
    place = cb.atomic_add(turn, 0, 1, order=order)
    if place == i32(cb.CUBE_DIM) - 1:
        total = 0
        for k in range(cb.CUBE_DIM):
            total += part[k]
        out[0] = total


@pytest.mark.parametrize("order", ["relaxed", "acquire", "release", "acq_rel"])
def test_the_last_unit_adds_up(order: str) -> None:
    data, out = np.arange(16, dtype=np.int32), np.zeros(1, np.int32)
    if order == "acq_rel":
        chain.launch(data, out, order, cube_count=1, cube_dim=16, device="reference")
        assert out[0] == 120
    else:
        with pytest.raises(DataRaceError):
            chain.launch(data, out, order, cube_count=1, cube_dim=16, device="reference")
    chain.launch(data, out, "acq_rel", cube_count=1, cube_dim=16, device="cpu")
    assert out[0] == 120


@cb.cube
def exchange(
    x: Array[i32], out: Array[i32], barrier: Comptime[str], shared: Comptime[bool]
) -> None:
    part = cb.shared(i32, cb.CUBE_DIM)
    i, other = cb.UNIT_POS, cb.CUBE_DIM - 1 - cb.UNIT_POS
    if shared:
        part[i] = x[i]
    else:
        out[i] = x[i]
    if barrier == "cube":
        cb.sync_cube()
    elif barrier == "storage":
        cb.sync_storage()
    got = part[other] if shared else out[other]
    cb.sync_cube()
    out[i] = got


@pytest.mark.parametrize("barrier", ["none", "cube", "storage"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_barrier_of_the_storage_orders_global_memory_only(barrier: str, *, shared: bool) -> None:
    x, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    if barrier == "cube" or (barrier == "storage" and not shared):
        exchange.launch(x, out, barrier, shared, cube_count=1, cube_dim=8, device=EVERYWHERE)
        assert (out == x[::-1]).all()
        out[:] = 0
        exchange.launch(x, out, barrier, shared, cube_count=1, cube_dim=8, device="cpu")
        assert (out == x[::-1]).all()
    else:
        with pytest.raises(DataRaceError):
            exchange.launch(x, out, barrier, shared, cube_count=1, cube_dim=8, device=EVERYWHERE)


@cb.cube
def reads_beside(x: Array[i32], out: Array[i32], atomic: Comptime[bool]) -> None:
    i = cb.ABSOLUTE_POS
    seen = cb.atomic_load(x, 0)
    if atomic:
        cb.atomic_store(x, 0, i32(i))
    out[i] = seen + x[1 if atomic else 0]


def test_atomic_loads_do_not_race_with_reads() -> None:
    x, out = np.array([5, 6], np.int32), np.zeros(8, np.int32)
    reads_beside.launch(x, out, False, cube_count=2, cube_dim=4, device=EVERYWHERE)
    assert (out == 10).all()
    reads_beside.launch(x, out, True, cube_count=2, cube_dim=4, device=EVERYWHERE)
    assert x[0] == 7


def test_an_atomic_load_does_not_make_an_array_written() -> None:
    @cb.cube
    def kernel(x: Array[i32], out: Array[i32]) -> None:
        out[cb.ABSOLUTE_POS] = cb.atomic_load(x, cb.ABSOLUTE_POS, order="acquire")

    x, out = np.arange(100, dtype=np.int32), np.zeros(100, np.int32)
    x.flags.writeable = False
    for device in ("reference", "cpu"):
        out[:] = 0
        kernel.over(100, device=device)(x, out)
        assert (out == x).all()
