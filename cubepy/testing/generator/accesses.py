"""Statements about memory: stores to what belongs to the unit, arrays of its own, atomics.

On elements of one's own any atomic may be seen. On elements that all units share it is one
commutative operation an array, and nobody looks at the old value.
"""

from __future__ import annotations

from cubepy.ir import BOOL, FLOATS, I32, INDEX, INTEGERS, U8, Scalar
from cubepy.testing.generator.assignments import Assignments
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import Context, Memory, MemoryKind, Phase, Scope

__all__ = ["Accesses", "commutative"]

_OF_INTEGERS = ("add", "sub", "min", "max", "and_", "or_", "xor", "exchange")
_OF_FLOATS = ("add", "sub", "min", "max", "exchange")
_ORDERS = ("relaxed", "acquire", "release", "acq_rel")


class Accesses:
    """Makes accesses of what a scope has in reach."""

    def __init__(self, scope: Scope, assignments: Assignments) -> None:
        self.scope = scope
        self.assignments = assignments

    def private(self, context: Context) -> tuple[Node, ...]:
        """An array of the unit's own, with one axis or two."""
        self.scope.features.add(Feature.PRIVATE)
        element, name = self.scope.storable(), self.scope.fresh("l")
        extents = [self.scope.random.randint(1, 5)]
        if self.scope.chance(0.3):
            extents.append(self.scope.random.randint(2, 3))
        here = Expressions(self.scope, context)
        shape = str(extents[0]) if len(extents) == 1 else str(tuple(extents))
        fill = f"fill={here.value(element, 1)}"
        made = f"cb.local_array({self.scope.spelling(element)}, {shape}, {fill})"
        self.scope.memories.append(
            Memory(
                name=name,
                element=element,
                kind=MemoryKind.PRIVATE,
                extents=tuple(map(str, extents)),
            )
        )
        return (Node(text=f"{name} = {made}", pinned=True),)

    def store(self, context: Context) -> tuple[Node, ...]:
        """A store to an element that belongs to the unit."""
        memories = self.scope.find_memories(MemoryKind.PRIVATE)
        memories += self.scope.find_memories(MemoryKind.OWN)
        if context.phase is Phase.WRITE_OWN:
            memories += self.scope.find_memories(MemoryKind.CUBE)
        if not memories:
            return self.assignments.assign(context)
        memory = self.scope.random.choice(memories)
        here = Expressions(self.scope, context)
        atomics = _own_atomics(memory)
        if atomics and self.scope.chance(0.15):
            return self._exchange(memory, here, here.pick(*atomics))
        place = f"{memory.name}[{here.subscript(memory)}]"
        return (Node(text=self.assignments.update(place, memory.element, here)),)

    def _exchange(self, memory: Memory, here: Expressions, operation: str) -> tuple[Node, ...]:
        """An atomic on an element of one's own, whose old value is seen."""
        self.scope.features.add(Feature.ATOMIC)
        at, element = here.subscript(memory), memory.element
        call = f"cb.atomic_{operation}({memory.name}, ({at}), "
        if operation == "load":
            call = call[:-2]
        elif operation == "compare_exchange":
            call += f"{here.value(element)}, {here.value(element)}"
        else:
            call += here.value(element)
        call += self._order(operation) + ")"
        if operation == "store":
            return (Node(text=call),)
        return (Node(text=f"{self.assignments.new(element)} = {call}"),)

    def _order(self, operation: str) -> str:
        """An argument that says what the atomic orders besides itself, or nothing."""
        if not self.scope.chance(0.3):
            return ""
        self.scope.features.add(Feature.ORDER)
        allowed = {"load": _ORDERS[:2], "store": ("relaxed", "release")}.get(operation, _ORDERS)
        return f', order="{self.scope.random.choice(allowed)}"'

    def fence(self, context: Context) -> tuple[Node, ...]:
        """A fence, which moves nothing that a unit sees of its own."""
        self.scope.features.add(Feature.ORDER)
        return (Node(text=f'cb.fence("{self.scope.random.choice(("cube", "device"))}")'),)

    def atomic(self, context: Context) -> tuple[Node, ...]:
        """A commutative atomic on an element that others may hit too."""
        memories = self.scope.find_memories(MemoryKind.ATOMIC)
        if not memories:
            return self.store(context)
        memory = self.scope.random.choice(memories)
        here = Expressions(self.scope, context)
        self.scope.features.add(Feature.ATOMIC)
        type = self.scope.random.choice((INDEX, I32, U8))
        at = here.wild(type)
        if self.scope.chance(0.7):
            at = f"({at}) % {memory.count}"
        order = self._order(memory.operation)
        value = here.value(memory.element)
        text = f"cb.{memory.operation}({memory.name}, {at}, {value}{order})"
        return (Node(text=text),)


def _own_atomics(memory: Memory) -> tuple[str, ...]:
    """Atomics for the unit's elements of a memory."""
    if memory.kind is not MemoryKind.OWN or memory.stored:
        return ()
    more = ("load", "store", "compare_exchange")
    if memory.element in INTEGERS:
        return _OF_INTEGERS + more
    return () if memory.element is BOOL else _OF_FLOATS + more[:2]


def commutative(element: Scalar) -> tuple[str, ...]:
    """Atomics whose order nobody can see."""
    if element in INTEGERS:
        return ("add", "sub", "min", "max", "and_", "or_", "xor")
    return ("min", "max") if element in FLOATS else ()
