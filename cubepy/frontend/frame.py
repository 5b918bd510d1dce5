"""The state of lowering one function: its builder, what its variables hold, what is assigned.

A function is lowered again from the start when it turns out on the way that a variable needs a slot
or another type; a :class:`Plan` carries what was learnt from one attempt to the next.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from cubepy.errors import CubeTypeError, Diagnostic, SourceError, UnsupportedError
from cubepy.frontend.names import NameAnalysis, Variable
from cubepy.frontend.session import MAXIMUM_OPS, Session
from cubepy.frontend.source import FunctionNode, KernelSource
from cubepy.frontend.values import Group, Value
from cubepy.ir import (
    BOOL,
    AttrValue,
    Builder,
    Op,
    OpDef,
    OpenRegion,
    Region,
    Scalar,
    Type,
    TypeRuleError,
    freeze_attrs,
    ops,
)
from cubepy.location import Loc
from cubepy.records import dataclass, field

__all__ = ["Assigned", "Binding", "Frame", "Loop", "Number", "Plan", "Returns", "exact"]

Number = bool | int | float
Assigned = frozenset[Variable] | None  # None: this point cannot be reached


def exact(type: Scalar, value: Number) -> Number:
    """A number as the attribute of a constant of a type: a plain float, int or bool."""
    if type is BOOL:
        return bool(value)
    return float(value) if type.is_float else int(value)


@dataclass(slots=True)
class Plan:
    """What earlier attempts found out. `changed`: this attempt found something new, so try again.

    `types`: locals begun by a literal that need another type. `slots`: variables assigned under
    run-time control flow. `guarded`: unrolled loops left by a run-time `break` or `continue`.
    `results`: types of what the function returns.
    """

    types: dict[Variable, Scalar] = field(default_factory=dict)
    slots: set[Variable] = field(default_factory=set)
    guarded: set[ast.AST] = field(default_factory=set)
    results: tuple[Scalar, ...] | None = None
    changed: bool = False


@dataclass(slots=True)
class Binding:
    """What a variable is. With a slot it lives there; without, `value` is its present value.

    `soft`: begun by a literal, so its type may still change; `literals` are those assigned so far.
    `parts`: a group of run-time values, one binding each; `group` is what they make.
    """

    loc: Loc
    value: Value | None = None
    slot: Op | None = None
    type: Scalar | None = None
    soft: bool = False
    literals: list[Any] = field(default_factory=list)
    parts: tuple[Binding, ...] = ()
    group: Group | None = None


@dataclass(slots=True)
class Loop:
    """A loop being lowered. `region`: where its body stands; `flag`: a slot set by `break`.

    `unrolled`: the body is repeated. `guarded`: each repetition is a loop of one trip, so that
    `break` and `continue` can leave it. `left`: a `break` or `continue` was reached for certain.
    `ends`: what is assigned where `break` (and in unrolled loops `continue`) leaves the body.
    """

    node: ast.AST
    region: OpenRegion | None = None
    unrolled: bool = False
    guarded: bool = False
    flag: Op | None = None
    left: str = ""
    ends: list[Assigned] = field(default_factory=list)


@dataclass(slots=True)
class Returns:
    """What the `return` statements of a helper gave. `single`: there is only one of them.

    `shape`: the value of the first, `leaves`: for each `return` its run-time parts and literals.
    """

    single: bool
    shape: Value | None = None
    leaves: list[tuple[Value, ...]] = field(default_factory=list)


class Frame:
    """One attempt at one function."""

    def __init__(
        self,
        session: Session,
        source: KernelSource,
        node: FunctionNode,
        analysis: NameAnalysis,
        plan: Plan,
    ) -> None:
        self.session = session
        self.source = source
        self.node = node
        self.analysis = analysis
        self.plan = plan
        self.builder = Builder()
        self.bindings: dict[Variable, Binding] = {}
        self.assigned: Assigned = frozenset()
        self.gaps: dict[Variable, tuple[str, Loc]] = {}
        self.regions: dict[int, OpenRegion] = {}
        self.loops: list[Loop] = []
        self.soft: dict[Op, Variable] = {}
        self.weak: dict[Op, bool] = {}  # see `retyping`, as the next two
        self.stores: dict[Op, list[Op]] = {}
        self.hard_slots: set[Op] = set()
        self.choices: dict[ast.AST, dict[Op, tuple[Number, ...]]] = {}  # see `choices`
        self.outer: Mapping[str, Value] = {}  # captured values of a function inside the kernel
        self.returns: Returns | None = None  # None in a kernel, which returns nothing
        self.generics: Mapping[str, Scalar] = {}  # what type variables stand for
        self.comptime = False  # inside an expression that Python evaluates
        self.named: ast.AST | None = None  # the expression whose op is called `hint`
        self.hint = ""

    # ── places and errors ────────────────────────────────────────────────────────────────────────

    def loc(self, node: ast.AST) -> Loc:
        """The place of a node."""
        return self.source.text.loc(node, self.name)

    @property
    def name(self) -> str:
        """The function's own name."""
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "lambda"

    def error(
        self,
        kind: type[SourceError],
        message: str,
        node: ast.AST,
        help: str = "",
        notes: Sequence[tuple[str, Loc]] = (),
    ) -> SourceError:
        """An error at a node, to be raised."""
        return kind(Diagnostic(message=message, loc=self.loc(node), help=help, notes=tuple(notes)))

    # ── ops ──────────────────────────────────────────────────────────────────────────────────────

    def emit(
        self,
        opdef: OpDef,
        *operands: Op,
        at: ast.AST,
        attrs: Mapping[str, AttrValue] | None = None,
        regions: tuple[Region, ...] = (),
        name: str = "",
    ) -> Op:
        """Append an op whose place is the node `at`."""
        self._count(at)
        if at is self.named and not name:
            name = self.hint
        try:
            return self.builder.emit(
                opdef, *operands, attrs=attrs, regions=regions, loc=self.loc(at), name=name
            )
        except TypeRuleError as error:
            raise self.error(CubeTypeError, f"{opdef.python or opdef.name}: {error}", at) from error

    def const(self, type: Scalar, value: Number, at: ast.AST) -> Op:
        """A constant of a type that it fits."""
        return self.emit(ops.CONST, at=at, attrs={"type": type, "value": exact(type, value)})

    def append_to(
        self,
        opened: OpenRegion,
        opdef: OpDef,
        type: Type,
        attrs: Mapping[str, AttrValue],
        at: ast.AST,
        name: str = "",
    ) -> Op:
        """Append an op that is shared with no other to a region, which may be an outer one."""
        self._count(at)
        made = Op(opdef=opdef, type=type, attrs=freeze_attrs(attrs), loc=self.loc(at), name=name)
        opened.ops.append(made)
        return made

    def _count(self, at: ast.AST) -> None:
        self.session.ops += 1
        if self.session.ops > MAXIMUM_OPS:
            self.session.exhausted = True
            raise self.error(
                UnsupportedError,
                f"the kernel has more than {MAXIMUM_OPS:,} operations",
                at,
                "unroll less, or loop at run time",
            )

    # ── regions ──────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def branch(self, *params: Op) -> Iterator[OpenRegion]:
        """A region under run-time control flow. What it assigns is left in `assigned`."""
        with self.builder.region(*params) as opened:
            yield opened

    def enter(self, body: Sequence[ast.stmt] | ast.match_case) -> None:
        """A statement list or a case is lowered into the open region, perhaps once more.

        Where it stood in another region before, as bodies of unrolled loops do, its variables are
        new ones.
        """
        number = self.analysis.list_number(body)
        before = self.regions.get(number)
        self.regions[number] = self.builder.current
        if before is None or before is self.builder.current:
            return
        gone = {variable for variable in self.bindings if variable.home == number}
        for variable in gone:
            del self.bindings[variable]
        if self.assigned is not None:
            self.assigned -= gone

    @property
    def reachable(self) -> bool:
        """Whether this point of the function can be reached."""
        return self.assigned is not None

    def merge(self, ends: Sequence[Assigned], reasons: Sequence[tuple[str, Loc]]) -> None:
        """Paths come together: assigned is what is assigned on each of them.

        `reasons` say of each path how it came about, for the error about a missing assignment.
        """
        reached = [(end, reason) for end, reason in zip(ends, reasons, strict=True)
                   if end is not None]  # fmt: skip
        if not reached:
            self.assigned = None
            return
        everywhere = frozenset.intersection(*(end for end, _ in reached))
        for end, _ in reached:
            for variable in end - everywhere:
                missing = next(reason for other, reason in reached if variable not in other)
                inner = self.gaps.get(variable)  # of a path inside, since it was assigned last
                if inner is None or inner[1].line < missing[1].line:
                    self.gaps[variable] = missing
        self.assigned = everywhere
