"""Re-emitting immutable IR: one driver for rules, and what hand-written walks share.

A rule looks at one op whose operands are already the new ones, and returns the op itself (keep),
another op (its uses now mean that one), or None (drop it; nothing may use it). Ops and regions that
nothing changes are kept as they are, so a pass that finds nothing to do allocates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cubepy.ir import ops
from cubepy.ir.nodes import Function, Kernel, Op, Region, freeze_attrs
from cubepy.ir.opdef import Attrs, AttrValue, OpDef, Trait
from cubepy.ir.types import BOOL, Scalar
from cubepy.location import Loc
from cubepy.records import replace

__all__ = ["EXITS", "PURE", "Rewriter", "Rule", "clone_ops", "map_bodies", "rebuilt", "rewrite"]

Rule = Callable[[Op, "Rewriter"], Op | None]
Rules = Mapping[OpDef, Rule]

# Flag arithmetic costs more than the rest of a visit: passes ask these sets.
EXITS = frozenset(row for row in ops.BY_NAME.values() if row.has(Trait.EXIT))
PURE = frozenset(row for row in ops.BY_NAME.values() if row.has(Trait.PURE))


def rebuilt(
    op: Op,
    *,
    operands: tuple[Op, ...] | None = None,
    regions: tuple[Region, ...] | None = None,
    attrs: Attrs | None = None,
    loc: Loc | None = None,
) -> Op:
    """A new op with some parts of `op` replaced; its type stays."""
    return Op(
        opdef=op.opdef,
        operands=op.operands if operands is None else operands,
        type=op.type,
        attrs=op.attrs if attrs is None else attrs,
        regions=op.regions if regions is None else regions,
        loc=op.loc if loc is None else loc,
        name=op.name,
    )


def map_bodies(kernel: Kernel, change: Callable[[Region], Region]) -> Kernel:
    """The kernel with `change` applied to its body and to those of its functions."""
    functions = tuple([_with_body(function, change) for function in kernel.functions])
    body = change(kernel.body)
    if body is kernel.body and functions == kernel.functions:
        return kernel
    return replace(kernel, body=body, functions=functions)


def _with_body(function: Function, change: Callable[[Region], Region]) -> Function:
    body = change(function.body)
    return function if body is function.body else replace(function, body=body)


def rewrite(kernel: Kernel, rules: Rules) -> Kernel:
    """The kernel after one walk with rules; each body is a walk of its own."""
    return map_bodies(kernel, lambda body: Rewriter(rules).region(body))


class Rewriter:
    """One walk. `values` maps old ops to what replaces them; `out` is the list being filled.

    `original` is the op as it stood before its operands were mapped, for rules that look it up.
    """

    __slots__ = ("original", "out", "rules", "values")

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.values: dict[Op, Op] = {}
        self.out: list[Op] = []

    def region(self, region: Region) -> Region:
        """The region re-emitted; the very same object if nothing changed."""
        outer, self.out = self.out, []
        self.splice(region.ops)
        made, self.out = tuple(self.out), outer
        return region if made == region.ops else Region(params=region.params, ops=made)

    def splice(self, given: Iterable[Op]) -> None:
        """Re-emit ops into the present list, up to the first that leaves the region."""
        rules, values = self.rules, self.values
        for op in given:
            current = op
            for operand in op.operands:
                if operand in values:
                    mapped = tuple([values.get(operand, operand) for operand in op.operands])
                    current = rebuilt(op, operands=mapped)
                    break
            rule = rules.get(op.opdef)
            if rule is None:
                result: Op | None = current
            else:
                self.original = op
                result = rule(current, self)
            if result is current:
                result = self.place(current)
            if result is not op and result is not None:
                values[op] = result
            if self.ended:
                return

    @property
    def ended(self) -> bool:
        """Whether the last op emitted leaves the region."""
        return bool(self.out) and self.out[-1].opdef in EXITS

    def place(self, op: Op) -> Op:
        """Append a finished op after re-emitting its regions; no rule is asked."""
        if op.regions:
            regions = tuple([self.region(region) for region in op.regions])
            if regions != op.regions:
                op = rebuilt(op, regions=regions)
        self.out.append(op)
        return op

    def emit(
        self,
        opdef: OpDef,
        *operands: Op,
        like: Op,
        attrs: Mapping[str, AttrValue] | None = None,
        regions: tuple[Region, ...] = (),
        name: str | None = None,
    ) -> Op:
        """A new op with the place and name of `like`, itself offered to the rules."""
        frozen = freeze_attrs(attrs or {})
        made = Op(
            opdef=opdef,
            operands=operands,
            type=opdef.rule(tuple([operand.type for operand in operands]), frozen),
            attrs=frozen,
            regions=regions,
            loc=like.loc,
            name=like.name if name is None else name,
        )
        rule = self.rules.get(opdef)
        result = made if rule is None else rule(made, self)
        if result is made:
            self.place(made)
        return made if result is None else result

    def const(self, type: Scalar, value: int | float, like: Op, *, name: str | None = None) -> Op:
        """A constant at the place of `like`."""
        exact = float(value) if type.is_float else bool(value) if type is BOOL else int(value)
        attrs: Mapping[str, AttrValue] = {"type": type, "value": exact}
        return self.emit(ops.CONST, like=like, attrs=attrs, name=name)


def clone_ops(given: Iterable[Op], values: dict[Op, Op], place: Callable[[Loc], Loc]) -> list[Op]:
    """Fresh copies of ops and all inside them; `values` maps operands and learns the copies."""
    made = []
    for op in given:
        operands = tuple([values.get(operand, operand) for operand in op.operands])
        regions = tuple([_clone_region(region, values, place) for region in op.regions])
        copy = rebuilt(op, operands=operands, regions=regions, loc=place(op.loc))
        values[op] = copy
        made.append(copy)
    return made


def _clone_region(region: Region, values: dict[Op, Op], place: Callable[[Loc], Loc]) -> Region:
    params = tuple([rebuilt(param, loc=place(param.loc)) for param in region.params])
    values.update(zip(region.params, params, strict=True))
    return Region(params=params, ops=tuple(clone_ops(region.ops, values, place)))
