"""Whether IR is well formed: structure, scopes, types by the ops' own rules, calls, exits, levels.

A complaint is a bug in cubepy, never the user's mistake: VerifyError, with the printed kernel as a
note. A level is a named set of permitted ops: what lowering may produce, what an emitter may meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cubepy.errors import VerifyError
from cubepy.ir import ops
from cubepy.ir.nodes import Function, Kernel, Op, Region
from cubepy.ir.opdef import OpDef, Trait, TypeRuleError
from cubepy.ir.printer import print_kernel
from cubepy.ir.rewriter import EXITS
from cubepy.ir.types import (
    VOID,
    BufferType,
    Scalar,
    SlotType,
    TupleType,
    Type,
)
from cubepy.records import dataclass

__all__ = ["LEVELS", "SCOPES", "falls_through", "orders_of", "verify"]

_ALL = frozenset(ops.BY_NAME) - {ops.PARAM.name}
_LIBRARY = frozenset(name for name, row in ops.BY_NAME.items() if row.has(Trait.LIBRARY))
_MADE_BY_PASSES = frozenset({ops.BLOCK.name, ops.LEAVE.name})

# any: every op of the table. lowered: what the front end makes. expanded: library ops are calls,
# and nothing is asked for in a target's own words.
# flat: no calls either, as the CPU's emitter wants it.
LEVELS: Mapping[str, frozenset[str]] = {
    "any": _ALL,
    "lowered": _ALL - _MADE_BY_PASSES,
    "expanded": _ALL - _LIBRARY - {ops.INTRINSIC.name},
    "flat": _ALL - _LIBRARY - {ops.CALL.name, ops.TUPLE_GET.name},
}

CHECKS = frozenset({"checked", "validate", "unchecked"})
SCOPES = ("cube", "device")
_ORDERS: Mapping[OpDef, tuple[str, ...]] = {
    ops.ATOMIC_LOAD: ("relaxed", "acquire"),
    ops.ATOMIC_STORE: ("relaxed", "release"),
}
# What is given to a call is held to the callee's parameters, which are no slots.
_TAKE_SLOTS = frozenset({ops.LOAD_LOCAL, ops.STORE_LOCAL, ops.CALL})
_ACCESSES = frozenset(row for row in ops.BY_NAME.values() if row.has(Trait.ATOMIC)) | {
    ops.LOAD,
    ops.STORE,
}
_CALLS = frozenset({ops.CALL, ops.INTRINSIC})
_LEAVES = frozenset({ops.BREAK, ops.CONTINUE, ops.LEAVE, ops.RETURN})


def orders_of(opdef: OpDef) -> tuple[str, ...]:
    """The memory orders that an atomic may have."""
    return _ORDERS.get(opdef, ("relaxed", "acquire", "release", "acq_rel"))


def verify(
    kernel: Kernel, level: str | frozenset[str] = "any", sound: set[Op] | None = None
) -> None:
    """Raise VerifyError unless the kernel is well formed and uses only the ops of the level.

    `level` is a name of LEVELS, or a set of op names. `sound`: ops whose operands, types and
    attributes were found to fit before, which never changes; those found now are added.
    """
    permitted = LEVELS[level] if isinstance(level, str) else level
    try:
        _verify(kernel, permitted, set() if sound is None else sound)
    except VerifyError as error:
        error.add_note(print_kernel(kernel))
        raise


def _verify(kernel: Kernel, permitted: frozenset[str], sound: set[Op]) -> None:
    callees: dict[str, Function] = {}
    seen: set[Op] = set()
    for function in kernel.functions:
        if function.name in callees:
            raise VerifyError(f"two functions are named {function.name}")
        _Checker(permitted, callees, seen, sound, function.result).owner(function)
        callees[function.name] = function
    if any(extent < 1 for extent in kernel.cube_dim):
        raise VerifyError(f"cube_dim is {kernel.cube_dim}: positive numbers are needed")
    for param in kernel.params:
        if not isinstance(param.type, Scalar | BufferType):
            raise VerifyError(f"parameter {param.name} of kernel {kernel.name} is {param.type}")
    _Checker(permitted, callees, seen, sound, VOID).owner(kernel)


def falls_through(region: Region) -> bool:
    """Whether the end of a region can be reached, as far as its structure tells."""
    return not region.ops or _op_falls_through(region.ops[-1])


def _op_falls_through(op: Op) -> bool:
    if op.opdef in EXITS:
        return False
    if op.opdef is ops.IF:
        return any(falls_through(region) for region in op.regions)
    if op.opdef is ops.WHILE:
        return not _is_endless(op) or _has_exit(op.regions[1], ops.BREAK)
    if op.opdef is ops.BLOCK:
        return falls_through(op.regions[0]) or _has_exit(op.regions[0], ops.LEAVE)
    return True


def _is_endless(loop: Op) -> bool:
    condition = loop.regions[0].ops[-1].operands[0]
    return condition.opdef is ops.CONST and condition.attrs["value"] is True


def _has_exit(region: Region, exit: OpDef) -> bool:
    """Whether a `break` or `leave` of the owner of this region stands in it."""
    inner = (ops.FOR, ops.WHILE) if exit is ops.BREAK else (ops.BLOCK,)
    for op in region.ops:
        if op.opdef is exit:
            return True
        if op.opdef not in inner and any(_has_exit(part, exit) for part in op.regions):
            return True
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a region stands: what exits may be used in it."""

    loop: bool = False
    block: bool = False
    condition: bool = False


class _Checker:
    """Checks one kernel or function; `scope` holds the values visible at the present op."""

    def __init__(
        self,
        permitted: frozenset[str],
        callees: Mapping[str, Function],
        seen: set[Op],
        sound: set[Op],
        result: Type,
    ) -> None:
        self.permitted = permitted
        self.callees = callees
        self.seen = seen
        self.sound = sound
        self.result = result
        self.scope: set[Op] = set()

    def owner(self, owner: Kernel | Function) -> None:
        names = [param.name for param in owner.params]
        if len(set(names)) != len(names):
            raise VerifyError(f"{owner.name} has two parameters of one name: {', '.join(names)}")
        self._params(owner.params)
        self._region(owner.body, _Place())
        if self.result is not VOID and falls_through(owner.body):
            raise VerifyError(f"the end of {owner.name} can be reached without a return")

    def _params(self, params: Sequence[Op]) -> None:
        for param in params:
            if param.opdef is not ops.PARAM or isinstance(param.type, SlotType | TupleType):
                raise VerifyError(f"{param!r} is no parameter")
            self._once(param)
            self.scope.add(param)

    def _once(self, op: Op) -> None:
        if op in self.seen:
            raise VerifyError(f"{op!r} occurs twice")
        self.seen.add(op)

    def _region(self, region: Region, place: _Place) -> None:
        scope = self.scope
        for op in region.ops:
            self._op(op, place)
            if op.type is not VOID:
                scope.add(op)
        for op in region.ops[:-1]:
            if op.opdef in EXITS:
                raise VerifyError(f"ops follow {op!r}")
        self._yield(region, place)
        scope.difference_update(region.ops)

    def _yield(self, region: Region, place: _Place) -> None:
        """`yield` stands at the end of a `while` condition, and only there."""
        if place.condition != bool(region.ops and region.ops[-1].opdef is ops.YIELD):
            raise VerifyError(
                "a while condition does not end in yield" if place.condition else "a stray yield"
            )

    def _op(self, op: Op, place: _Place) -> None:
        self._once(op)
        if op.opdef.name not in self.permitted:
            raise VerifyError(f"{op!r} is not permitted at this level")
        for operand in op.operands:
            if operand not in self.scope:
                raise VerifyError(f"{op!r} uses {operand!r}, which is not visible there")
        if op not in self.sound:
            self._shape(op)
            self._type(op)
            self._attributes(op)
            self.sound.add(op)
        if op.opdef in _CALLS:
            self._call(op)
        elif op.opdef in _LEAVES:
            self._exit(op, place)
        if op.regions:
            self._regions(op, place)

    def _shape(self, op: Op) -> None:
        names, given = op.opdef.operands, len(op.operands)
        variadic = bool(names) and names[-1].startswith("*")
        if given < len(names) - 1 if variadic else given != len(names):
            raise VerifyError(f"{op!r} has {given} operands for ({', '.join(names)})")
        if len(op.regions) != op.opdef.regions:
            raise VerifyError(f"{op!r} has {len(op.regions)} regions, not {op.opdef.regions}")

    def _type(self, op: Op) -> None:
        operands = tuple([operand.type for operand in op.operands])
        try:
            expected = op.opdef.rule(operands, op.attrs)
        except TypeRuleError as error:
            raise VerifyError(f"{op!r}: {error}") from error
        except (KeyError, IndexError) as error:
            raise VerifyError(f"{op!r} lacks {error}") from error
        if expected != op.type:
            raise VerifyError(f"{op!r} should have the type {expected}")

    def _attributes(self, op: Op) -> None:
        opdef = op.opdef
        if opdef in _ACCESSES:
            if op.attrs.get("check") not in CHECKS:
                raise VerifyError(f"{op!r} has check {op.attrs.get('check')!r}")
            if opdef.has(Trait.ATOMIC) and op.attrs.get("order") not in orders_of(opdef):
                raise VerifyError(f"{op!r} has order {op.attrs.get('order')!r}")
        elif opdef is ops.FENCE:
            if op.attrs.get("scope") not in SCOPES:
                raise VerifyError(f"{op!r} has scope {op.attrs.get('scope')!r}")
        elif opdef not in _TAKE_SLOTS and any(
            isinstance(operand.type, SlotType) for operand in op.operands
        ):
            raise VerifyError(f"{op!r} takes a slot: only load_local and store_local may")

    def _call(self, op: Op) -> None:
        if op.opdef is ops.INTRINSIC and "callee" not in op.attrs:
            return
        name = op.attrs.get("callee")
        callee = self.callees.get(str(name))
        if callee is None:
            raise VerifyError(f"{op!r} calls {name!r}, which no function before it is named")
        given = [_shared_type(operand.type) for operand in op.operands]
        wanted = [_shared_type(param.type) for param in callee.params]
        if given != wanted or op.type != callee.result:
            raise VerifyError(f"{op!r} does not fit {callee.name}: {op.operands} for {wanted}")

    def _exit(self, op: Op, place: _Place) -> None:
        opdef = op.opdef
        if opdef in (ops.BREAK, ops.CONTINUE) and not place.loop:
            raise VerifyError(f"{op!r} stands outside a loop")
        if opdef is ops.LEAVE and not place.block:
            raise VerifyError(f"{op!r} stands outside a block")
        if opdef is ops.RETURN:
            given = tuple(operand.type for operand in op.operands)
            wanted = _results(self.result)
            if given != wanted:
                raise VerifyError(f"{op!r} returns {given}, not {wanted}")

    def _regions(self, op: Op, place: _Place) -> None:
        loop = op.opdef in (ops.FOR, ops.WHILE)
        for number, region in enumerate(op.regions):
            wanted = [op.operands[0].type] if op.opdef is ops.FOR else []
            if [param.type for param in region.params] != wanted:
                raise VerifyError(f"region {number} of {op!r} has parameters {region.params}")
            self._params(region.params)
            condition = op.opdef is ops.WHILE and number == 0
            inner = _Place(
                loop=(loop or place.loop) and not condition,
                block=op.opdef is ops.BLOCK or (place.block and not condition),
                condition=condition,
            )
            self._region(region, inner)
            self.scope.difference_update(region.params)


def _results(type: Type) -> tuple[Type, ...]:
    if type is VOID:
        return ()
    return type.elements if isinstance(type, TupleType) else (type,)


def _shared_type(type: Type) -> Type:
    """Caller and callee may know different things of a buffer's use and aliases."""
    return BufferType(type.element, type.strides) if isinstance(type, BufferType) else type
