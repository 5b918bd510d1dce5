"""Random statements: assignments, branches, loops with every kind of exit, stores, atomics.

Which units are together decides what may stand where: a barrier or plane operation needs uniform
control flow, a loop that holds one is left by all units or none, and nothing of the kind follows an
early return that only some units take. Cooperation between units is in :mod:`cooperation`.
"""

from __future__ import annotations

from collections.abc import Callable

from cubepy.ir import BOOL, F32, FLOATS, I32, INDEX, INTEGERS, U8, Scalar
from cubepy.testing.generator.cooperation import Cooperation
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

__all__ = ["Statements"]

MAX_DEPTH = 4
Maker = Callable[[Context], tuple[Node, ...]]


class Statements:
    """Makes lists of statements; `budget` limits how many a kernel has."""

    def __init__(self, scope: Scope, budget: int) -> None:
        self.scope = scope
        self.budget = budget
        self.cooperation = Cooperation(scope, self.statement)

    # ── lists ──

    def block(self, context: Context, count: int) -> tuple[Node, ...]:
        """Statements in a scope of their own, at least one if the budget allows."""
        nodes: list[Node] = []
        with self.scope.block():
            for _ in range(count):
                nodes += self.statement(context)
            if context.loops and context.depth > 1 and self.scope.chance(0.12):
                nodes += self.leave(context)
        return tuple(nodes)

    def statement(self, context: Context) -> tuple[Node, ...]:
        """One statement of a random kind."""
        self.budget -= 1
        if self.budget < 0:
            return ()
        weighted = [(maker, weight) for maker, weight in self._kinds(context) if weight]
        (maker,) = self.scope.random.choices(
            [maker for maker, _ in weighted], [weight for _, weight in weighted]
        )
        return maker(context)

    def _kinds(self, context: Context) -> list[tuple[Maker, int]]:
        deeper = context.depth < MAX_DEPTH
        kernel = context.results is None
        together = self.scope.cooperative and kernel and not self.scope.returned
        return [
            (self.declare, 4),
            (self.assign, 10),
            (self.swap, 1),
            (self.store, (8 if context.loops else 4) if kernel else 0),
            (self.branch, 6 if deeper else 0),
            (self.for_loop, 4 if deeper else 0),
            (self.while_loop, 3 if deeper else 0),
            (self.guarded_exit, 4 if context.loops or not kernel else 1),
            (self.atomic, 2 if kernel else 0),
            (self.call, 3 if kernel and self.scope.helpers else 0),
            (self.cooperation.statement, 7 if together and context.uniform else 0),
            (self.cooperation.plane, 4 if together and context.plane_uniform else 0),
        ]

    def here(self, context: Context, *, uniform: bool = False) -> Expressions:
        """Expressions at this point."""
        return Expressions(self.scope, context, uniform=uniform)

    def settled(self, context: Context) -> bool:
        """Whether all units of the cube are here together."""
        return context.uniform and not self.scope.returned

    # ── variables ──

    def declare(self, context: Context) -> tuple[Node, ...]:
        """A new variable, sometimes provably uniform, sometimes from a bare literal."""
        uniform = self.settled(context) and self.scope.chance(0.25)
        type, name = self.scope.type(), self.scope.fresh("v")
        here = self.here(context, uniform=uniform)
        text = here.value(type)
        if type in (I32, F32, BOOL) and self.scope.chance(0.2):
            literal = here.literal(type)
            text = literal if abs(float(literal) if type is not BOOL else 0) < 1000 else text
        self.scope.variables.append(Variable(name=name, type=type, uniform=uniform))
        return (Node(text=f"{name} = {text}"),)

    def target(self, context: Context) -> Variable | None:
        """A variable that may be assigned here; a uniform one only by all units together."""
        known = self.scope.find(assignable=True)
        if not self.settled(context):
            known = [variable for variable in known if not variable.uniform]
        return self.scope.random.choice(known) if known else None

    def assign(self, context: Context) -> tuple[Node, ...]:
        """An assignment, plain or augmented."""
        target = self.target(context)
        if target is None:
            return self.declare(context)
        here = self.here(context, uniform=target.uniform)
        return (Node(text=self.update(target.name, target.type, here)),)

    def update(self, place: str, type: Scalar, here: Expressions) -> str:
        """`place = value` or `place op= value`."""
        if self.scope.chance(0.55):
            return f"{place} = {here.value(type, 3)}"
        if type is BOOL:
            return f"{place} {here.pick('&', '|', '^')}= {here.value(type)}"
        if type in FLOATS:
            return f"{place} {here.pick('+', '-', '*')}= {here.operands(type, 2)[1]}"
        if self.scope.chance(0.2):
            count = self.scope.random.randrange(type.bits + 2)
            return f"{place} {here.pick('<<', '>>')}= {count}"
        sign = here.pick("+", "-", "*", "//", "%", "&", "|", "^")
        return f"{place} {sign}= {here.operands(type, 2)[1]}"

    def swap(self, context: Context) -> tuple[Node, ...]:
        """Two variables change places."""
        first = self.target(context)
        others = [
            variable
            for variable in self.scope.find(type=first.type if first else None, assignable=True)
            if first and variable is not first and variable.uniform == first.uniform
        ]
        if first is None or not others:
            return self.assign(context)
        second = self.scope.random.choice(others)
        return (Node(text=f"{first.name}, {second.name} = {second.name}, {first.name}"),)

    def call(self, context: Context) -> tuple[Node, ...]:
        """New variables from a helper's results."""
        name, parameters, results = self.scope.random.choice(self.scope.helpers)
        here = self.here(context)
        arguments = ", ".join(here.value(type) for type in parameters)
        self.scope.features.add(Feature.HELPER)
        made = [Variable(name=self.scope.fresh("v"), type=type) for type in results]
        self.scope.variables += made
        return (Node(text=f"{', '.join(one.name for one in made)} = {name}({arguments})"),)

    # ── memory ──

    def store(self, context: Context) -> tuple[Node, ...]:
        """A store to an element that belongs to the unit."""
        memories = self.scope.find_memories(MemoryKind.OWN) + self.scope.find_memories(
            MemoryKind.PRIVATE
        )
        if context.phase is Phase.WRITE_OWN:
            memories += self.scope.find_memories(MemoryKind.CUBE)
        if not memories:
            return self.assign(context)
        memory = self.scope.random.choice(memories)
        here = self.here(context)
        place = f"{memory.name}[{here.subscript(memory)}]"
        integers = memory.element in INTEGERS and memory.kind is MemoryKind.OWN
        integers = integers and "," not in memory.own
        if integers and self.scope.chance(0.1):
            return (self.exchange(memory, here),)
        return (Node(text=self.update(place, memory.element, here)),)

    def exchange(self, memory: Memory, here: Expressions) -> Node:
        """An atomic on an element of one's own, whose old value is seen."""
        self.scope.features.add(Feature.ATOMIC)
        operation = here.pick("add", "min", "max", "xor", "exchange")
        name = self.scope.fresh("v")
        text = (
            f"{name} = cb.atomic_{operation}({memory.name}, {here.subscript(memory)}, "
            f"{here.value(memory.element)})"
        )
        self.scope.variables.append(Variable(name=name, type=memory.element))
        return Node(text=text)

    def atomic(self, context: Context) -> tuple[Node, ...]:
        """A commutative atomic on an element that others may hit too."""
        memories = self.scope.find_memories(MemoryKind.ATOMIC)
        if not memories:
            return self.store(context)
        memory = self.scope.random.choice(memories)
        here = self.here(context)
        self.scope.features.add(Feature.ATOMIC)
        at = here.value(self.scope.random.choice((INDEX, I32, U8)))
        if self.scope.chance(0.7):
            at = f"({at}) % {memory.count}"
        return (
            Node(
                text=f"cb.{memory.operation}({memory.name}, {at}, {here.value(memory.element)})",
            ),
        )

    # ── branches ──

    def branch(self, context: Context) -> tuple[Node, ...]:
        """`if`, with `elif` and `else` at times."""
        uniform = self.scope.chance(0.3)
        here = self.here(context, uniform=uniform)
        inside = context.inside(uniform=uniform)
        cooperative = self.scope.cooperative and not self.scope.returned
        if cooperative and context.plane_uniform and self.scope.chance(0.2):
            return self.plane_branch(context)
        arms: list[Node] = []
        body = self.block(inside, self.scope.random.randint(1, 3))
        if self.scope.chance(0.25):
            text = f"elif {here.condition()}:"
            arms.append(Node(text=text, body=self.block(inside, self.scope.random.randint(1, 2))))
        if self.scope.chance(0.5):
            arms.append(
                Node(text="else:", body=self.block(inside, self.scope.random.randint(1, 3)))
            )
        return (Node(text=f"if {here.condition()}:", body=body, arms=tuple(arms)),)

    def plane_branch(self, context: Context) -> tuple[Node, ...]:
        """A branch that whole planes take."""
        self.scope.features.add(Feature.PLANE)
        condition = (
            f"cb.plane_{self.scope.random.choice(('any', 'all'))}({self.here(context).condition()})"
        )
        body = self.block(context.inside(uniform=False, plane_uniform=True), 2)
        return (Node(text=f"if {condition}:", body=body),)

    # ── loops ──

    def for_loop(self, context: Context) -> tuple[Node, ...]:
        """`for … in range(…)`; the variable outlives the loop if it was assigned before."""
        loop = self.new_loop(context)
        uniform = loop.cooperative or self.scope.chance(0.4)
        type = self.scope.random.choice((INDEX, INDEX, I32, U8))
        name, before = self.scope.fresh("j"), []
        here = self.here(context, uniform=uniform)
        bounds, type = self.bounds(type, here, context)
        outlives = self.scope.chance(0.15)
        variable = Variable(
            name=name,
            type=type,
            uniform=loop.cooperative and not outlives,
            assignable=not loop.cooperative and self.scope.chance(0.2),
        )
        if outlives:
            start = here.value(type)
            outer = Variable(name=name, type=type, assignable=not loop.cooperative)
            self.scope.variables.append(outer)
            before.append(Node(text=f"{name} = {start}", pinned=True))
        if not uniform:
            self.scope.features.add(Feature.DIVERGENT_LOOP)
        head = f"for {name} in range({bounds}):"
        with self.scope.block():
            self.scope.variables.append(variable)
            body = self.body(context, loop)
        return (*before, Node(text=head, body=body, arms=self.loop_else(context, loop)))

    def bounds(self, type: Scalar, here: Expressions, context: Context) -> tuple[str, Scalar]:
        """Arguments of `range` for at most a few trips, and the variable's type."""
        trips = 5 if len(context.loops) == 0 else 3
        if self.scope.chance(0.3):
            text = here.pick(f"{trips}", f"1, {trips + 2}, 2", f"{trips}, 0, -2", "3, 3", "-2, 2")
            return text, INDEX
        limit = f"({here.value(type)}) % {trips}"
        if self.scope.chance(0.5):
            limit = f"{limit} + 2"
        forms = ["{}", "{}", "1, {}", "{}, " + str(trips + 2), "0, {}, 2"]
        if type is not U8:
            forms += ["{}, -1, -1", f"{trips}" + ", {}, -2"]
        return here.pick(*forms).format(limit), type

    def while_loop(self, context: Context) -> tuple[Node, ...]:
        """`while` with a counter that bounds it."""
        loop = self.new_loop(context)
        uniform = loop.cooperative or self.scope.chance(0.25)
        trips = self.scope.random.randint(2, 5 if len(context.loops) == 0 else 3)
        name = self.scope.fresh("n")
        here = self.here(context, uniform=uniform)
        counter = Variable(name=name, type=I32, uniform=loop.cooperative, assignable=False)
        self.scope.variables.append(counter)
        condition = f"{name} < {trips}"
        first = [Node(text=f"{name} += 1", pinned=True)]
        if self.scope.chance(0.2):
            condition, stop = "True", Node(text="break", pinned=True)
            first.insert(0, Node(text=f"if {name} >= {trips}:", body=(stop,), pinned=True))
            self.note_exit(loop, uniform=True)
        elif self.scope.chance(0.8):
            parts = [condition, here.condition()]
            self.scope.random.shuffle(parts)
            condition = f"{parts[0]} and {parts[1]}"
            if not uniform:
                self.scope.features.add(Feature.DIVERGENT_LOOP)
        body = self.body(context, loop)
        return (
            Node(text=f"{name} = 0", pinned=True),
            Node(
                text=f"while {condition}:", body=(*first, *body), arms=self.loop_else(context, loop)
            ),
        )

    def new_loop(self, context: Context) -> Loop:
        """A loop, for all units together where that is possible and wanted."""
        together = self.settled(context) and self.scope.cooperative and self.scope.chance(0.6)
        self.scope.features.add(Feature.LOOP)
        return Loop(cooperative=together, phase=context.phase)

    def body(self, context: Context, loop: Loop) -> tuple[Node, ...]:
        """The statements of a loop."""
        inside = context.in_loop(loop)
        before = self.scope.returned
        nodes = self.block(inside, self.scope.random.randint(2, 4))
        assert before or not (self.scope.returned and loop.cooperative)
        return nodes

    def loop_else(self, context: Context, loop: Loop) -> tuple[Node, ...]:
        """`else` of a loop, which units that broke do not run."""
        if not self.scope.chance(0.35 if loop.left_early else 0.08):
            return ()
        self.scope.features.add(Feature.LOOP_ELSE)
        inside = context.inside(uniform=loop.cooperative or not loop.left_early)
        return (Node(text="else:", body=self.block(inside, 2)),)

    # ── exits ──

    def guarded_exit(self, context: Context) -> tuple[Node, ...]:
        """`if condition: …; break` or the like."""
        settled = self.settled(context)
        uniform = settled and self.scope.chance(0.5)
        inside = context.inside(uniform=uniform)
        here = self.here(context, uniform=uniform)
        condition = here.condition()
        with self.scope.block():
            body = self.block(inside, 1) if self.scope.chance(0.4) else ()
            end = self.leave(inside)
        if not end:
            return self.assign(context)
        return (Node(text=f"if {condition}:", body=(*body, *end)),)

    def leave(self, context: Context) -> tuple[Node, ...]:
        """An exit that may stand here, or nothing."""
        uniform = self.settled(context)
        choices: list[str] = []
        if context.loops and self.may_leave_loop(context.loops[-1], context, uniform=uniform):
            choices += ["break", "break", "continue", "continue"]
        if self.may_return(context, uniform=uniform):
            choices += ["return"] * (1 + 2 * len(context.loops))
        if not choices:
            return ()
        text = self.scope.random.choice(choices)
        if text == "return":
            return (Node(text=self.give_back(context, uniform=uniform)),)
        self.note_exit(context.loops[-1], uniform=uniform, breaks=text == "break")
        return (Node(text=text),)

    @staticmethod
    def may_leave_loop(loop: Loop, context: Context, *, uniform: bool) -> bool:
        """A loop with barriers is left by all units together, and not between them."""
        return (uniform or not loop.cooperative) and loop.phase is context.phase

    def note_exit(self, loop: Loop, *, uniform: bool, breaks: bool = True) -> None:
        """Remember that a loop is left."""
        loop.left_early |= breaks
        if not uniform:
            self.scope.features |= {Feature.DIVERGENT_EXIT, Feature.DIVERGENT_LOOP}
            if not breaks:
                self.scope.features.add(Feature.DIVERGENT_CONTINUE)

    def may_return(self, context: Context, *, uniform: bool) -> bool:
        """A kernel that still cooperates is left by all units or none, and not in a phase."""
        if context.results is not None:
            return True
        if context.phase is not Phase.WRITE_OWN:
            return False
        if uniform:
            return self.scope.chance(0.2)
        if any(loop.cooperative for loop in context.loops):
            return False
        return self.scope.chance(0.15 if self.scope.cooperative else 0.7)

    def give_back(self, context: Context, *, uniform: bool) -> str:
        """A `return`; from a kernel without values."""
        self.scope.features.add(Feature.RETURN)
        if context.loops:
            context.loops[-1].left_early = True
            if not uniform:
                self.scope.features |= {Feature.DIVERGENT_EXIT, Feature.DIVERGENT_LOOP}
        if context.results is None:
            self.scope.returned |= not uniform
            return "return"
        here = self.here(context)
        return f"return {', '.join(here.value(type) for type in context.results)}"
