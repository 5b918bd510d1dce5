"""Which variables a function has: every name that it assigns, split where the uses fall apart.

A name with one assignment, read only below it, needs no memory: it is bound to its value. Names
assigned once in each of several statement lists that do not see each other are several variables.
All other assignments of a name make one variable, declared in the innermost statement list that
contains every use. Only syntax is looked at: what is comptime is not known here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from cubepy.frontend.source import FunctionNode, parameters_of
from cubepy.records import dataclass, field

__all__ = ["NameAnalysis", "Variable", "analyze_names", "free_names", "read_names"]

_BODIES = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A local. `home` numbers the statement list that declares it.

    `in_loop`: some assignment stands in a loop that does not contain the declaration (or in an
    expression), so the variable needs a slot.
    """

    name: str
    home: int
    in_loop: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """Statement `at` of list `list`; -1 stands for before the first."""

    list: int
    at: int


@dataclass(frozen=True, slots=True)
class _Use:
    place: _Place
    node: ast.AST | None
    writes: bool
    in_expression: bool = False


@dataclass(slots=True)
class NameAnalysis:
    """`variables` by the node that reads or writes them, parameters by their `ast.arg` name.

    `lists` numbers the statement lists by the identity of the list object's owner and field.
    """

    variables: dict[ast.AST, Variable] = field(default_factory=dict)
    parameters: dict[str, Variable] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    lists: dict[int, int] = field(default_factory=dict)
    parts: dict[tuple[Variable, int], Variable] = field(default_factory=dict)

    def part(self, variable: Variable, number: int) -> Variable:
        """The variable that is element `number` of a tuple."""
        known = self.parts.get((variable, number))
        if known is None:
            known = Variable(f"{variable.name}[{number}]", variable.home, variable.in_loop)
            self.parts[variable, number] = known
        return known

    def list_number(self, body: Sequence[ast.stmt] | ast.match_case) -> int:
        """The number of a statement list of the function, or of a case around its body."""
        return self.lists[id(body)]


class _Collector:
    """Walks a function once and notes every use of every name with its place."""

    def __init__(self, node: FunctionNode) -> None:
        self.parents: list[_Place | None] = []
        self.loops: list[bool] = []
        self.uses: dict[str, list[_Use]] = {}
        self.numbers: dict[int, int] = {}
        root = self._open(None, loop=False)
        for name in parameters_of(node.args):
            self._use(name, _Place(root, -1), None, writes=True)
        if isinstance(node, ast.Lambda):
            self._expression(node.body, _Place(root, 0))
        else:
            self._statements(node.body, root)

    def _open(self, parent: _Place | None, *, loop: bool) -> int:
        self.parents.append(parent)
        self.loops.append(loop)
        return len(self.parents) - 1

    def _use(
        self, name: str, place: _Place, node: ast.AST | None, *, writes: bool, inner: bool = False
    ) -> None:
        self.uses.setdefault(name, []).append(_Use(place, node, writes, inner))

    def _statements(self, body: list[ast.stmt], number: int) -> None:
        self.numbers[id(body)] = number
        for at, statement in enumerate(body):
            self._statement(statement, _Place(number, at))

    def _statement(self, statement: ast.stmt, place: _Place) -> None:
        if isinstance(statement, ast.FunctionDef):
            self._use(statement.name, place, statement, writes=True)
            self._nested_function(statement, place)
            return
        loop = isinstance(statement, ast.While) or _is_range_loop(statement)
        for name, value in ast.iter_fields(statement):
            if name in _BODIES and isinstance(value, list):
                number = self._open(place, loop=loop and name == "body")
                if name == "body" and isinstance(statement, ast.For):
                    self._targets(statement.target, _Place(number, -1))
                self._statements(value, number)
            elif name != "target" or not isinstance(statement, ast.For):
                self._field(value, place)

    def _field(self, value: object, place: _Place) -> None:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.expr):
                self._expression(item, place)
            elif isinstance(item, ast.match_case):
                self._case(item, place)

    def _case(self, case: ast.match_case, place: _Place) -> None:
        """The names of the pattern belong to a list around the body, which the guard sees too."""
        number = self.numbers[id(case)] = self._open(place, loop=False)
        for pattern in ast.walk(case.pattern):
            self._pattern(pattern, place, number)
        inside = _Place(number, 0)
        if case.guard is not None:
            self._expression(case.guard, inside)
            for node in ast.walk(case.guard):
                if isinstance(node, ast.NamedExpr):  # the guard stands in a branch of its own
                    self._use(node.target.id, place, None, writes=False)
        self._statements(case.body, self._open(inside, loop=False))

    def _pattern(self, pattern: ast.AST, place: _Place, number: int) -> None:
        if isinstance(pattern, ast.MatchAs | ast.MatchStar) and pattern.name is not None:
            self._use(pattern.name, _Place(number, -1), pattern, writes=True)
        elif isinstance(pattern, ast.Name):
            self._use(pattern.id, place, pattern, writes=False)

    def _targets(self, target: ast.expr, place: _Place) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self._use(node.id, place, node, writes=isinstance(node.ctx, ast.Store))

    def _expression(self, expression: ast.expr, place: _Place) -> None:
        pending: list[ast.AST] = [expression]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name):
                self._use(node.id, place, node, writes=isinstance(node.ctx, ast.Store))
            elif isinstance(node, ast.NamedExpr):
                self._use(node.target.id, place, node.target, writes=True, inner=True)
                pending.append(node.value)
            elif isinstance(node, ast.Lambda):
                self._nested_function(node, place)
            elif isinstance(node, ast.BinOp):  # of which long code is made
                pending += (node.left, node.right)
            elif not isinstance(node, ast.Constant):
                pending.extend(ast.iter_child_nodes(node))

    def _nested_function(self, node: FunctionNode, place: _Place) -> None:
        """Free names of a function inside count as read where it stands."""
        for name in sorted(free_names(node)):
            self._use(name, place, None, writes=False)
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self._expression(default, place)


def _is_range_loop(statement: ast.stmt) -> bool:
    """Whether a `for` surely is a loop at run time: over `range` itself."""
    return (
        isinstance(statement, ast.For)
        and isinstance(statement.iter, ast.Call)
        and isinstance(statement.iter.func, ast.Name)
        and statement.iter.func.id == "range"
    )


def free_names(node: FunctionNode) -> set[str]:
    """Names a nested function reads and does not bind itself."""
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    return read_names(*body) - set(parameters_of(node.args))


def read_names(*roots: ast.AST) -> set[str]:
    """Names that are read in these nodes and bound in none of them."""
    bound: set[str] = set()
    read: set[str] = set()
    for root in roots:
        for inner in ast.walk(root):
            if isinstance(inner, ast.Name):
                (read if isinstance(inner.ctx, ast.Load) else bound).add(inner.id)
            elif isinstance(inner, ast.FunctionDef):
                bound.add(inner.name)
    return read - bound


def analyze_names(node: FunctionNode) -> NameAnalysis:
    """The variables of a function."""
    collector = _Collector(node)
    analysis = NameAnalysis(lists=collector.numbers)
    for name, uses in collector.uses.items():
        if not any(use.writes for use in uses):
            continue
        analysis.names.add(name)
        for variable, members in _split(collector, name, uses):
            for use in members:
                if use.node is not None:
                    analysis.variables[use.node] = variable
                elif use.writes:
                    analysis.parameters[name] = variable
    return analysis


def _split(
    collector: _Collector, name: str, uses: list[_Use]
) -> Iterator[tuple[Variable, list[_Use]]]:
    """The variables of one name with their uses."""
    owners = _bound_sites(collector, uses)
    if owners is None:
        home = _common_list(collector, uses)
        in_loop = any(
            use.in_expression or _crosses_loop(collector, use.place.list, home)
            for use in uses
            if use.writes
        )
        yield Variable(name, home, in_loop), uses
        return
    groups: dict[int, list[_Use]] = {}
    for use, site in zip(uses, owners, strict=True):
        groups.setdefault(site, []).append(use)
    for site, members in groups.items():
        yield Variable(name, site), members


def _ancestors(collector: _Collector, place: _Place) -> Iterator[_Place]:
    """The place itself and the statements around it, from the inside out."""
    current: _Place | None = place
    while current is not None:
        yield current
        current = collector.parents[current.list]


def _bound_sites(collector: _Collector, uses: list[_Use]) -> list[int] | None:
    """For each use the list of the one assignment it sees, or None if that is not so for all."""
    sites: dict[int, int] = {}
    for use in uses:
        if not use.writes:
            continue
        if use.in_expression or use.place.list in sites:
            return None
        sites[use.place.list] = use.place.at
    owners: list[int] = []
    for use in uses:
        around = list(_ancestors(collector, use.place))
        if use.writes:
            if any(place.list in sites and sites[place.list] <= place.at for place in around[1:]):
                return None
            owners.append(use.place.list)
            continue
        seen = [place.list for place in around if sites.get(place.list, place.at) < place.at]
        if not seen:
            return None
        owners.append(seen[0])
    return owners


def _common_list(collector: _Collector, uses: list[_Use]) -> int:
    """The innermost list that contains every use."""
    common: list[int] | None = None
    for number in {use.place.list for use in uses}:
        around = [place.list for place in _ancestors(collector, _Place(number, 0))]
        inside = set(around)
        common = around if common is None else [entry for entry in common if entry in inside]
    assert common
    return common[0]


def _crosses_loop(collector: _Collector, number: int, home: int) -> bool:
    """Whether a loop body lies between a list and the list `home` around it."""
    while number != home:
        if collector.loops[number]:
            return True
        parent = collector.parents[number]
        assert parent is not None
        number = parent.list
    return False
