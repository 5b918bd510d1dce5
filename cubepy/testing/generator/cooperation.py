"""Statements by which the units of a cube or plane work together.

A barrier stands before each phase in which any element of cube memory may be read and after it;
memory is written only outside of such phases, each unit at its own place. So no two units touch an
element without a barrier between, unless both read.
"""

from __future__ import annotations

from collections.abc import Callable

from cubepy.ir import BOOL, FLOATS, I32, U64, Scalar
from cubepy.records import replace
from cubepy.testing.generator.accesses import commutative
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import (
    Context,
    Loop,
    Memory,
    MemoryKind,
    Phase,
    Scope,
    Variable,
)

__all__ = ["Cooperation"]

_REDUCTIONS = ("sum", "min", "max", "prod")
_SCANS = ("inclusive_sum", "exclusive_sum", "inclusive_prod", "exclusive_prod")
BARRIER = Node(text="cb.sync_cube()", pinned=True)


class Cooperation:
    """`statement` makes one ordinary statement in a context."""

    def __init__(self, scope: Scope, statement: Callable[[Context], tuple[Node, ...]]) -> None:
        self.scope = scope
        self.ordinary = statement

    def statement(self, context: Context) -> tuple[Node, ...]:
        """Barriers and what stands between them, in uniform control flow."""
        if self.scope.chance(0.15) and context.phase is Phase.WRITE_OWN:
            return self.tally(context)
        memories = self.scope.find_memories(MemoryKind.CUBE)
        if not memories or context.phase is not Phase.WRITE_OWN:
            return self.plane(context)
        self.scope.features.add(Feature.BARRIER)
        if context.loops:
            self.scope.features.add(Feature.BARRIER_IN_LOOP)
        memory = self.scope.random.choice(memories)
        if memory.own != "cb.UNIT_POS" or memory.element is BOOL:
            return self.exchange(memory, context)
        return self.scope.random.choice((self.exchange, self.exchange, self.halving, self.rotation,
                                         self.spread))(memory, context)  # fmt: skip

    def exchange(self, memory: Memory, context: Context) -> tuple[Node, ...]:
        """Write, barrier, read anywhere, barrier."""
        here = Expressions(self.scope, context)
        write = Node(text=f"{memory.name}[{here.subscript(memory)}] = {here.value(memory.element)}")
        reading = replace(context, phase=Phase.READ_ANY)
        there = Expressions(self.scope, reading)
        name = self.scope.fresh("v")
        read = Node(text=f"{name} = {memory.name}[{there.subscript(memory)}]")
        self.scope.variables.append(Variable(name=name, type=memory.element))
        between: list[Node] = []
        for _ in range(self.scope.random.randrange(3)):
            between += self.ordinary(reading)
        return (write, BARRIER, read, *between, BARRIER)

    def halving(self, memory: Memory, context: Context) -> tuple[Node, ...]:
        """A tree over the cube, a barrier in each trip."""
        self.scope.features |= {Feature.BARRIER_IN_LOOP, Feature.LOOP}
        half = self.scope.fresh("h")
        far = f"{memory.name}[cb.UNIT_POS + {half}]"
        near = f"{memory.name}[cb.UNIT_POS]"
        step = Node(text=self.combine(near, far, memory.element))
        guarded = Node(text=f"if cb.UNIT_POS < {half}:", body=(step,), pinned=True)
        halve = Node(text=f"{half} //= 2", pinned=True)
        loop = Node(text=f"while {half} > 0:", body=(guarded, BARRIER, halve), pinned=True)
        return (BARRIER, Node(text=f"{half} = cb.CUBE_DIM // 2", pinned=True), loop)

    def rotation(self, memory: Memory, context: Context) -> tuple[Node, ...]:
        """A loop in which each unit reads a neighbour and then writes."""
        self.scope.features |= {Feature.BARRIER_IN_LOOP, Feature.LOOP}
        trip, taken = self.scope.fresh("k"), self.scope.fresh("t")
        here = Expressions(self.scope, context, uniform=True)
        trips = here.pick("2", "3", f"({here.value(I32)}) % 4")
        read = f"{taken} = {memory.name}[(cb.UNIT_POS + {trip} + 1) % cb.CUBE_DIM]"
        near = f"{memory.name}[cb.UNIT_POS]"
        body: list[Node] = [Node(text=read, pinned=True), BARRIER]
        with self.scope.block():
            self.scope.variables.append(Variable(name=taken, type=memory.element))
            loop = Loop(cooperative=True, phase=context.phase)
            inside = context.in_loop(loop)
            if inside.depth < 4:
                body += self.ordinary(inside)
        body += [Node(text=self.combine(near, taken, memory.element)), BARRIER]
        return (BARRIER, Node(text=f"for {trip} in range({trips}):", body=tuple(body)))

    def spread(self, memory: Memory, context: Context) -> tuple[Node, ...]:
        """A value that all units of the cube get from one of them."""
        name = self.scope.fresh("u")
        here = Expressions(self.scope, context)
        text = f"{name} = cb.cube_uniform({here.value(memory.element)})"
        self.scope.variables.append(Variable(name=name, type=memory.element, uniform=True))
        return (Node(text=text),)

    def tally(self, context: Context) -> tuple[Node, ...]:
        """All units add to a few cells of the cube, cleared before, which then all may read."""
        self.scope.features |= {Feature.BARRIER, Feature.ATOMIC}
        if context.loops:
            self.scope.features.add(Feature.BARRIER_IN_LOOP)
        element = self.scope.storable()
        operations = commutative(element)
        if not operations:
            return self.plane(context)
        name, cell, count = self.scope.fresh("s"), self.scope.fresh("k"), 3
        here = Expressions(self.scope, context)
        clear = Node(text=f"{name}[{cell}] = {here.literal_of(element)}", pinned=True)
        atomic = f"cb.atomic_{here.pick(*operations)}({name}, {here.somewhere()} % {count}, "
        seen = self.scope.fresh("v")
        add = Node(text=f"{atomic}{here.value(element)})")
        if self.scope.chance(0.5):
            add = Node(text=f"if {here.condition()}:", body=(add,))
        read = Node(text=f"{seen} = {name}[{here.somewhere()} % {count}]")
        self.scope.variables.append(Variable(name=seen, type=element))
        return (
            Node(text=f"{name} = cb.shared({self.scope.spelling(element)}, {count})", pinned=True),
            Node(
                text=f"for {cell} in range(cb.UNIT_POS, {count}, cb.CUBE_DIM):",
                body=(clear,),
                pinned=True,
            ),
            BARRIER,
            add,
            BARRIER,
            read,
            BARRIER,
        )

    def combine(self, near: str, far: str, type: Scalar) -> str:
        """`near` becomes something of both."""
        signs = ("+", "-", "*") if type in FLOATS else ("+", "-", "*", "^", "|", "&")
        if self.scope.chance(0.3):
            return f"{near} = {self.scope.random.choice(('min', 'max'))}({near}, {far})"
        return f"{near} {self.scope.random.choice(signs)}= {far}"

    def plane(self, context: Context) -> tuple[Node, ...]:
        """A plane operation into a new variable."""
        self.scope.features.add(Feature.PLANE)
        type, name = self.scope.type(numbers=True), self.scope.fresh("p")
        here = Expressions(self.scope, context)
        text, result = self.random_plane(type, here)
        self.scope.variables.append(Variable(name=name, type=result))
        return (Node(text=f"{name} = {text}"),)

    def random_plane(self, type: Scalar, here: Expressions) -> tuple[str, Scalar]:
        """A plane operation on a type, and its result's type."""
        kind = self.scope.random.choice((0, 0, 1, 1, 1, 2, 3, 4))
        if kind == 0:
            operation = here.pick("all", "any", "ballot", "elect")
            operand = "" if operation == "elect" else here.condition()
            where = self._where(here)
            text = f"cb.plane_{operation}({operand}{where if operand else where[2:]})"
            return text, U64 if operation == "ballot" else BOOL
        value, where = here.value(type), self._where(here)
        if kind == 1:
            return f"cb.plane_{here.pick(*_REDUCTIONS)}({value}{where})", type
        if kind == 2 and type not in FLOATS:
            return f"cb.plane_{here.pick(*_SCANS)}({value}{where})", type
        if kind == 3:
            step = self.scope.random.choice((0, 1, 2, 3))
            way = here.pick("xor", "up", "down")
            return f"cb.plane_shuffle_{way}({value}, {step}{where})", type
        if self.scope.chance(0.3):
            return f"cb.plane_broadcast({value}, 0{where})", type
        return f"cb.plane_shuffle({value}, {here.somewhere()} % cb.PLANE_DIM{where})", type

    def _where(self, here: Expressions) -> str:
        """An argument that says which lanes count, or nothing."""
        if not self.scope.chance(0.35):
            return ""
        self.scope.features.add(Feature.WHERE)
        return f", where={here.condition()}"
