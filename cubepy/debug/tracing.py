"""A kernel that also writes down what one unit's variables become, on any device.

Behind every value with a name in the kernel, and every assignment, stands a store of its number and
bits into two further arguments, done by one unit only. Nothing else of the kernel changes, so that
the same trace can be had of devices that disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cubepy.compiler import finish
from cubepy.ir import (
    I32,
    I64,
    INDEX,
    SCALARS,
    BufferType,
    Kernel,
    Op,
    OpDef,
    Region,
    Rewriter,
    Scalar,
    SlotType,
    StrideClass,
    Trait,
    freeze_attrs,
    ops,
    param,
    rebuilt,
    verify,
)
from cubepy.location import Loc
from cubepy.records import dataclass, replace
from cubepy.runtime import Device, Grid, launch

__all__ = ["Step", "trace"]

_MOST = 1 << 16  # steps that are kept
_CHECKED = {"check": "checked"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A variable got a value."""

    name: str
    loc: Loc
    type: Scalar
    bits: int

    @property
    def value(self) -> Any:
        """The value, as a NumPy scalar."""
        if self.type.is_integer or self.type.numpy == np.bool_:
            return np.asarray(self.bits).astype(self.type.numpy)[()]
        word = np.asarray(self.bits, np.int64).astype(f"u{self.type.size}")
        return word.view(self.type.numpy)[()]


def trace(
    kernel: Kernel, grid: Grid, values: list[Any], place: tuple[int, int, int], device: Device
) -> list[Step]:
    """What the variables of the unit at a position of the launch become on a device, in order."""
    traced = _Traced(kernel, place)
    sites, bits = np.full(_MOST, -1, np.int32), np.zeros(_MOST, np.int64)
    loaded = device.load(finish(traced.kernel, device.target).artifact)
    launch(device, loaded, grid, [*values, sites, bits])
    device.sync()
    steps = []
    for site, word in zip(sites.tolist(), bits.tolist(), strict=True):
        if site < 0:
            break
        name, loc, type = traced.sites[site]
        steps.append(Step(name=name, loc=loc, type=type, bits=word))
    return steps


class _Traced:
    """The kernel with its stores, and which variable each number stands for."""

    def __init__(self, kernel: Kernel, place: tuple[int, int, int]) -> None:
        self.sites: list[tuple[str, Loc, Scalar]] = []
        used = [each.type.alias for each in kernel.params if isinstance(each.type, BufferType)]
        free = max(used, default=-1) + 1
        self._sites = param("trace sites", BufferType(I32, (StrideClass.ONE,), alias=free))
        self._bits = param("trace bits", BufferType(I64, (StrideClass.ONE,), alias=free + 1))
        self._place = place
        self._here: Op | None = None
        self._counter: Op | None = None
        rules: Mapping[OpDef, Any] = dict.fromkeys(ops.BY_NAME.values(), self._rule)
        walk = Rewriter(rules)
        like = Op(opdef=ops.CONST, loc=kernel.loc)
        self._open(walk, like)
        opening, walk.out = walk.out, []
        body = walk.region(kernel.body)
        self.kernel = replace(
            kernel,
            params=(*kernel.params, self._sites, self._bits),
            body=Region(params=body.params, ops=(*opening, *body.ops)),
        )
        verify(self.kernel, "lowered")

    def _open(self, walk: Rewriter, like: Op) -> None:
        """Whether this is the unit, and a count of its steps."""
        here: Op | None = None
        for axis, at in zip("xyz", self._place, strict=True):
            position = walk.emit(ops.BY_NAME[f"absolute_pos_{axis}"], like=like)
            test = walk.emit(ops.EQ, position, walk.const(INDEX, at, like), like=like)
            here = test if here is None else walk.emit(ops.BIT_AND, here, test, like=like)
        counter = Op(
            opdef=ops.LOCAL, type=SlotType(INDEX), attrs=freeze_attrs({"element": INDEX}),
            loc=like.loc,
        )  # fmt: skip
        walk.out.append(counter)
        walk.emit(ops.STORE_LOCAL, counter, walk.const(INDEX, 0, like), like=like)
        self._here, self._counter = here, counter

    def _rule(self, op: Op, walk: Rewriter) -> Op:
        assigns = op.opdef is ops.STORE_LOCAL and op.operands[0].name
        if not assigns and not (op.name and isinstance(op.type, Scalar) and _is_assigned(op)):
            return op
        made = walk.place(rebuilt(op))
        if assigns:
            self._write(assigns, made.operands[1], made, walk)
        else:
            self._write(op.name, made, made, walk)
        return made

    def _write(self, name: str, value: Op, at: Op, walk: Rewriter) -> None:
        """`if here: sites[n], bits[n] = number, value; n += 1`."""
        scalar = value.type
        assert isinstance(scalar, Scalar)
        assert self._here is not None
        assert self._counter is not None
        like = Op(opdef=ops.CONST, loc=at.loc)
        outer, walk.out = walk.out, []
        count = walk.emit(ops.LOAD_LOCAL, self._counter, like=like)
        number = walk.const(I32, len(self.sites), like)
        walk.emit(ops.STORE, self._sites, count, number, like=like, attrs=_CHECKED)
        walk.emit(ops.STORE, self._bits, count, _word(value, walk, like), like=like, attrs=_CHECKED)
        more = walk.emit(ops.ADD, count, walk.const(INDEX, 1, like), like=like)
        walk.emit(ops.STORE_LOCAL, self._counter, more, like=like)
        region, walk.out = Region(ops=tuple(walk.out)), outer
        walk.out.append(
            Op(opdef=ops.IF, operands=(self._here,), regions=(region, Region()), loc=at.loc)
        )
        self.sites.append((name, at.loc, scalar))


def _is_assigned(op: Op) -> bool:
    """Whether a value is one of the kernel's own: no constant, no look at a variable."""
    return op.opdef not in (ops.CONST, ops.LOAD_LOCAL, ops.PARAM) and not op.opdef.has(Trait.EXIT)


def _word(value: Op, walk: Rewriter, like: Op) -> Op:
    """The bits of a value as an i64."""
    scalar = value.type
    assert isinstance(scalar, Scalar)
    if scalar.is_float:
        whole = SCALARS[f"u{scalar.bits}"]
        value = walk.emit(ops.BITCAST, value, like=like, attrs={"to": whole})
    if value.type is I64:
        return value
    return walk.emit(ops.CAST, value, like=like, attrs={"to": I64})
