"""Random statements about vectors: new ones, whole operations, elements, loads and stores.

The elements of a local are variables that change with the whole. Vectors are loaded from arrays
that are only read, and stored to the elements that belong to the unit.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.ir import BOOL, FLOATS, I64, INDEX, Scalar
from cubepy.testing.generator.assignments import Assignments
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import (
    Composite,
    Context,
    Memory,
    MemoryKind,
    Scope,
    Variable,
    VectorType,
)

__all__ = ["vector_statement"]

COUNTS = (2, 2, 4)


def vector_statement(assignments: Assignments, context: Context) -> tuple[Node, ...]:
    """A new vector, one changed, stored, or something asked of one."""
    scope = assignments.scope
    scope.features.add(Feature.VECTOR)
    here = assignments.here(context)
    locals_ = list(_locals(scope))
    if not locals_ or scope.chance(0.25):
        return _declared(scope, here)
    name, type = scope.random.choice(locals_)
    kind = scope.random.randrange(4)
    if kind == 0:
        return _asked(assignments, name, type, here)
    if kind == 1 and context.results is None:
        stored = _stored(name, type, here)
        if stored:
            return (Node(text=stored),)
    return (Node(text=f"{name} = {_whole(name, type, here)}"),)


def _locals(scope: Scope) -> Iterator[tuple[str, VectorType]]:
    for one in scope.composites:
        if isinstance(one.type, VectorType):
            yield one.name, one.type


def _declared(scope: Scope, here: Expressions) -> tuple[Node, ...]:
    element = scope.type(numbers=True)
    if element is INDEX:
        element = I64
    type = VectorType(element=element, count=scope.random.choice(COUNTS))
    text = _loaded(type, here) or _made(type, here)
    name = scope.fresh("x")
    scope.composites.append(Composite(name=name, type=type))
    scope.variables += [
        Variable(name=f"{name}[{k}]", type=element, assignable=False, part=True)
        for k in range(type.count)
    ]
    return (Node(text=f"{name} = {text}", pinned=True),)


def _made(type: VectorType, here: Expressions) -> str:
    values = [here.value(type.element, 1) for _ in range(type.count)]
    if here.scope.chance(0.5):
        return f"cb.vector({', '.join(values)})"
    spelling = here.scope.spelling(type.element)
    if here.scope.chance(0.3):
        values = values[:1]
    return f"cb.Vector[{spelling}, {type.count}]({', '.join(values)})"


def _loaded(type: VectorType, here: Expressions) -> str:
    """Neighbours in an array that is only read, or ""."""
    known = here.scope.find_memories(MemoryKind.READ, type.element)
    known = [memory for memory in known if not memory.extents]
    if not known or here.context.results is not None or here.scope.chance(0.3):
        return ""
    at = here.pick("i", "i", "i + 1", "i - 1", "i // 2", f"{here.somewhere()} % 7")
    return f"{here.random.choice(known).name}.vectorized({type.count})[{at}]"


def _whole(name: str, type: VectorType, here: Expressions) -> str:
    """A vector of the same type."""
    element, same = type.element, [other for other, of in _locals(here.scope) if of == type]
    other = here.pick(*same) if here.scope.chance(0.6) else f"{here.value(element, 1)}"
    signs = ("+", "-", "*") + (("/",) if element in FLOATS else ("&", "|", "^", "//", "%"))
    forms = [
        f"{name} {here.pick(*signs)} {other}",
        f"cb.select({name} {here.pick('<', '>=', '!=')} {other}, {name}, {here.value(element, 1)})",
        f"cb.insert({name}, {here.somewhere()} % {type.count}, {here.value(element, 1)})",
        f"{here.pick('min', 'max')}({name}, {other})",
        f"{here.pick('-', 'abs')}({name})",
        f"{here.pick(*same)} if {here.condition()} else {name}",
        _loaded(type, here) or _made(type, here),
    ]
    if element in FLOATS:
        forms.append(f"cb.fma({name}, {other}, {here.pick(*same)})")
    return here.pick(*forms)


def _asked(
    assignments: Assignments, name: str, type: VectorType, here: Expressions
) -> tuple[Node, ...]:
    """A number or truth made of a vector."""
    element: Scalar = type.element
    numbers = (
        f"sum({name})",
        f"min({name})",
        f"max({name})",
        f"cb.dot({name}, {name})",
        f"{name}[{here.somewhere()} % {type.count}]",
    )
    if here.scope.chance(0.25):
        test = f"{name} {here.pick('<', '>=', '==')} {here.value(element, 1)}"
        return (Node(text=f"{assignments.new(BOOL)} = {here.pick('all', 'any')}({test})"),)
    text = here.pick(*numbers)
    return (Node(text=f"{assignments.new(element)} = {text}"),)


def _stored(name: str, type: VectorType, here: Expressions) -> str:
    """A store to elements of the unit's own that lie side by side, or ""."""
    own = here.scope.find_memories(MemoryKind.OWN, type.element)
    places = [(memory.name, at) for memory in own if (at := _vectors_of(memory, type.count))]
    if not places:
        return ""
    memory, at = here.random.choice(places)
    sign = here.pick("=", "=", "+=", "*=")
    return f"{memory}.vectorized({type.count})[{at}] {sign} {name}"


def _vectors_of(memory: Memory, count: int) -> str:
    """The subscript of the unit's first vector in a memory, or ""."""
    if memory.own != f"i * {memory.count} + {{k}}" or memory.count % count:
        return ""
    return f"i * {memory.count // count}"
