"""Before::

    kernel @k(%x: global<f32, [1], unknown, 0>, %y: global<f32, [1], write, 1>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = load %x, %i [check=checked]
      store %y, %i, %0 [check=checked]
      %j: index = absolute_pos
      %1: f32 = load %x, %j [check=checked]
      store %x, %j, %1 [check=checked]
      %2: f32 = load %x, %i [check=checked]
      store %y, %i, %2 [check=checked]
    }

After::

    kernel @k(%x: global<f32, [1], unknown, 0>, %y: global<f32, [1], write, 1>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = load %x, %i [check=checked]
      store %y, %i, %0 [check=checked]
      store %x, %i, %0 [check=checked]
      %2: f32 = load %x, %i [check=checked]
      store %y, %i, %2 [check=checked]
    }

A pure op is shared with later ones of its region and of the regions inside. So is a load, up to the
next write to a memory that may overlap, or the next barrier. An unchecked store is a load's value.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from cubepy.ir import PURE, Kernel, Op, Region, Trait, map_bodies, ops, rebuilt
from cubepy.passes.context import PassContext
from cubepy.passes.memory_effects import (
    EVERYTHING,
    NOT_PRIVATE,
    Group,
    group_of,
    is_private,
    written_groups,
)

__all__ = ["share_subexpressions"]

Key = tuple[Any, ...]
_COMMUTATIVE = frozenset(row for row in ops.BY_NAME.values() if row.has(Trait.COMMUTATIVE))


def share_subexpressions(kernel: Kernel, context: PassContext) -> Kernel:
    """Compute everything once that is known to give the same."""
    return map_bodies(kernel, _share)


def _share(body: Region) -> Region:
    written: dict[Region, frozenset[Group]] = {}
    _written(body, written)
    return _Sharing(written).region(body)


def _written(region: Region, found: dict[Region, frozenset[Group]]) -> frozenset[Group]:
    """The groups that a region writes, itself or inside; for every region."""
    groups: set[Group] = set()
    for op in region.ops:
        groups.update(written_groups(op))
        for part in op.regions:
            groups |= _written(part, found)
    found[region] = frozenset(groups)
    return found[region]


class _Sharing:
    """One walk. `_known` is scoped by an undo log; versions of memory make old loads unknown."""

    def __init__(self, written: dict[Region, frozenset[Group]]) -> None:
        self._written = written
        self._values: dict[Op, Op] = {}
        self._known: dict[Key, Op] = {}
        self._log: list[tuple[Key, Op | None]] = []
        self._versions: dict[Group, int] = {}
        self._numbers = count(1)

    def region(self, region: Region) -> Region:
        """The region with shared ops; what it computes is not known after it."""
        start = len(self._log)
        made = [kept for op in region.ops if (kept := self._op(op)) is not None]
        while len(self._log) > start:
            key, previous = self._log.pop()
            if previous is None:
                del self._known[key]
            else:
                self._known[key] = previous
        return (
            region if tuple(made) == region.ops else Region(params=region.params, ops=tuple(made))
        )

    def _op(self, op: Op) -> Op | None:
        """The op as it stays, or None if an earlier one gives its value."""
        values, current = self._values, op
        for operand in op.operands:
            if operand in values:
                mapped = tuple([values.get(operand, operand) for operand in op.operands])
                current = values[op] = rebuilt(op, operands=mapped)
                break
        if op.regions:
            return self._control(current)
        key = self._key(current)
        if key is not None:
            known = self._known.get(key)
            if known is not None:
                values[op] = known
                return None
            self._learn(key, current)
        else:
            self._effects(current)
        return current

    def _key(self, op: Op) -> Key | None:
        opdef = op.opdef
        if opdef is ops.CONST:
            return (opdef, op.type, repr(op.attrs["value"]))
        if opdef in PURE:
            operands = op.operands
            if opdef in _COMMUTATIVE and id(operands[0]) > id(operands[1]):
                operands = operands[::-1]
            return (opdef, operands, tuple(op.attrs.values()) if op.attrs else ())
        if opdef is ops.LOAD:
            return self._load_key(op.operands, op.attrs["check"])
        return None

    def _load_key(self, operands: tuple[Op, ...], check: object) -> Key:
        memory = operands[0]
        version = max(
            self._versions.get(group_of(memory), 0),
            self._versions.get(EVERYTHING, 0),
            0 if is_private(memory) else self._versions.get(NOT_PRIVATE, 0),
        )
        return (ops.LOAD, operands, check, version)

    def _learn(self, key: Key, op: Op) -> None:
        self._log.append((key, self._known.get(key)))
        self._known[key] = op

    def _effects(self, op: Op) -> None:
        self._write(written_groups(op))
        if op.opdef is ops.STORE and op.attrs["check"] == "unchecked":
            key = self._load_key(op.operands[:-1], "unchecked")
            self._learn(key, op.operands[-1])

    def _write(self, groups: Any) -> None:
        for group in groups:
            self._versions[group] = next(self._numbers)

    def _control(self, op: Op) -> Op:
        """Both arms of an `if` start from the same state; a loop starts from any trip's end."""
        if op.opdef is not ops.IF:
            for part in op.regions:
                self._write(self._written[part])
        before = dict(self._versions)
        regions = []
        for part in op.regions:
            self._versions = dict(before)
            regions.append(self.region(part))
        self._versions = before
        for part in op.regions:
            self._write(self._written[part])
        return op if tuple(regions) == op.regions else rebuilt(op, regions=tuple(regions))
