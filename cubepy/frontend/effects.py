"""What a function does and does not do by its syntax alone.

For messages: which parameters may be written, which assignments no one reads, which statements do
nothing. What is said here holds on every path and for all arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cubepy.frontend.source import FunctionNode, KernelSource, parameters_of
from cubepy.records import dataclass

__all__ = [
    "changes_something",
    "endless_loop",
    "may_write",
    "reads_name",
    "stores_by_itself",
    "unread_rebindings",
]

# Calls that take an array and leave it alone.
_READING = frozenset(
    {"abs", "atomic_load", "bool", "float", "int", "len", "max", "min", "print", "range", "zip"}
)


def _called(call: ast.Call) -> str:
    """The last part of the name that is called."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def may_write(source: KernelSource, name: str) -> bool:
    """Whether a kernel may write elements of a parameter: by a store, or by giving it away."""
    for node in ast.walk(source.node):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if _is_name(_base(node), name):
                return True
        elif isinstance(node, ast.Call) and _called(node) not in _READING:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(_is_name(_base(value), name) for value in given if _may_be_array(value)):
                return True
        elif isinstance(node, ast.Assign) and _may_be_array(node.value) \
                and _is_name(_base(node.value), name):  # fmt: skip
            return True  # another name for it
    return False


def _may_be_array(value: ast.expr) -> bool:
    """A name, or a part of something; an element is no array unless subscripts are missing."""
    return isinstance(value, ast.Name | ast.Attribute | ast.Starred) or _is_view(value)


# Methods of arrays that give another view of the same memory.
_VIEWING = frozenset({"reshape", "view", "vectorized"})


def _is_view(node: ast.expr) -> bool:
    """Whether an expression is surely no element, but a part of an array or all of it."""
    if isinstance(node, ast.Subscript):
        return any(isinstance(part, ast.Slice) for part in ast.walk(node))
    return isinstance(node, ast.Call) and _called(node) in _VIEWING


def _base(node: ast.expr) -> ast.expr:
    """What is left without subscripts, attributes and views."""
    while True:
        if isinstance(node, ast.Call) and _called(node) in _VIEWING:
            node = node.func
        elif isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
            node = node.value
        else:
            return node


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def changes_something(node: ast.expr) -> bool:
    """Whether evaluating an expression may change something: it calls, or assigns with `:=`."""
    pending: list[ast.AST] = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Call | ast.NamedExpr):
            return True
        if not isinstance(inner, ast.Lambda):
            pending.extend(ast.iter_child_nodes(inner))
    return False


def stores_by_itself(node: FunctionNode) -> bool:
    """Whether an assignment of the function itself has an element as its target."""
    return any(
        isinstance(inner, ast.Subscript) and not isinstance(inner.ctx, ast.Load)
        for inner in ast.walk(node)
    )


def endless_loop(node: FunctionNode) -> ast.While | None:
    """The first `while True` without a `break` of its own, behind which nothing is reached."""
    if isinstance(node, ast.Lambda):
        return None
    loops = (each for each in _statements(node) if isinstance(each, ast.While))
    return min(filter(_is_endless, loops), key=lambda loop: loop.lineno, default=None)


def _is_endless(loop: ast.While) -> bool:
    always = isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    return always and not _breaks(loop.body)


def _breaks(body: list[ast.stmt]) -> bool:
    """Whether a `break` in these statements leaves the loop around them."""
    pending: list[ast.AST] = [*body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.For | ast.While):
            pending += node.orelse  # a `break` inside is the inner loop's
        else:
            pending += ast.iter_child_nodes(node)
    return False


# ── assignments that no one reads ────────────────────────────────────────────────────────────────


def unread_rebindings(node: FunctionNode) -> Iterator[tuple[str, ast.stmt]]:
    """Assignments to parameters whose value nothing reads, except to assign the parameter anew."""
    if isinstance(node, ast.Lambda):
        return
    rebound = {_rebound(inner) for inner in _statements(node)}
    names = [name for name in parameters_of(node.args) if name in rebound]
    places = list(_places(node)) if names else []
    for name in names:
        yield from ((name, statement) for statement in _unread(places, name))


def _statements(node: ast.FunctionDef) -> Iterator[ast.AST]:
    """All statements of a function, in no order; no expression, which has none inside."""
    pending: list[ast.AST] = [node]
    while pending:
        inner = pending.pop()
        yield inner
        for body in _BODIES:
            pending.extend(getattr(inner, body, ()))


# What statements, handlers and cases keep statements in.
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True, slots=True)
class _Place:
    """A node in the order of the text; `loops` are around it. `inner`: a function inside has it."""

    node: ast.AST
    loops: frozenset[int]
    inner: bool


def _places(root: ast.FunctionDef) -> Iterator[_Place]:
    pending = [_Place(each, frozenset(), inner=False) for each in root.body[::-1]]
    while pending:
        place = pending.pop()
        yield place
        node, loops = place.node, place.loops
        if isinstance(node, ast.For | ast.While):
            loops |= {id(node)}
        inner = place.inner or isinstance(node, ast.FunctionDef | ast.Lambda)
        children = [_Place(child, loops, inner) for child in ast.iter_child_nodes(node)]
        pending.extend(children[::-1])


def _unread(places: list[_Place], name: str) -> Iterator[ast.stmt]:
    """Assignments of one name that no later read, and none in the same loop, can see."""
    own = {id(inner) for place in places if _rebinds(place.node, name)
           for inner in ast.walk(place.node)}  # fmt: skip
    reads = [(at, place) for at, place in enumerate(places)
             if _is_read(place.node, name) and id(place.node) not in own]  # fmt: skip
    for at, place in enumerate(places):
        if place.inner or not _rebinds(place.node, name):
            continue
        if not any(later > at or read.inner or read.loops & place.loops for later, read in reads):
            assert isinstance(place.node, ast.stmt)
            yield place.node


def _is_read(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def reads_name(node: ast.AST, name: str) -> bool:
    """Whether some part of a node reads a name."""
    return any(_is_read(inner, name) for inner in ast.walk(node))


def _rebinds(node: ast.AST, name: str) -> bool:
    return _rebound(node) == name


def _rebound(node: ast.AST) -> str:
    """The one name that a statement assigns anew; "" if there is none."""
    target: ast.expr | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        target = node.target
    return target.id if isinstance(target, ast.Name) else ""
