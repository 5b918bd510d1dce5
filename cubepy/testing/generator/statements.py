"""Random statements: the lists they stand in, branches, and exits of every kind.

Which units are together decides what may stand where: a barrier or plane operation needs uniform
control flow, a loop that holds one is left by all units or none, and nothing of the kind follows an
early return that only some units take. Variables, memory, loops and cooperation between units have
modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable

from cubepy.ir import I32, INDEX, U8, U64
from cubepy.testing.generator.accesses import Accesses
from cubepy.testing.generator.assignments import Assignments
from cubepy.testing.generator.cooperation import Cooperation
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.loops import Loops
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.reports import report_statement
from cubepy.testing.generator.scope import (
    Context,
    Loop,
    MemoryKind,
    Phase,
    Scope,
    Variable,
    VectorType,
)
from cubepy.testing.generator.struct_values import struct_statement
from cubepy.testing.generator.vectors import vector_statement
from cubepy.testing.generator.views import view_statement

__all__ = ["Statements"]

MAX_DEPTH = 4
Maker = Callable[[Context], tuple[Node, ...]]


class Statements:
    """Makes lists of statements; `budget` limits how many a kernel has."""

    def __init__(self, scope: Scope, budget: int) -> None:
        self.scope = scope
        self.budget = budget
        self.assignments = Assignments(scope)
        self.accesses = Accesses(scope, self.assignments)
        self.loops = Loops(scope, self, self.assignments)
        self.cooperation = Cooperation(scope, self.statement)

    # ── lists ──

    def block(self, context: Context, count: int) -> tuple[Node, ...]:
        """Statements in a scope of their own, at least one if the budget allows."""
        nodes: list[Node] = []
        with self.scope.block():
            for _ in range(count):
                nodes += self.statement(context)
            if context.loops and context.depth > 1 and self.scope.chance(0.2):
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
        stores = kernel or self.scope.find_memories(MemoryKind.PRIVATE)
        return [
            (self.assignments.declare, 4),
            (self.assignments.assign, 10),
            (self.assignments.swap, 1),
            (self.assignments.walrus, 1),
            (self.assignments.quotient, 1),
            (self.assignments.call, 3 if self.scope.helpers else 0),
            (self.structs, 9 if self.scope.structs and kernel else 0),
            (self.vectors, 5 if self.has(VectorType) else 1),
            (self.views, 2),
            (self.reports, 1),
            (self.accesses.fence, 1 if kernel else 0),
            (self.accesses.private, 1),
            (self.accesses.store, (8 if context.loops else 4) if stores else 0),
            (self.accesses.atomic, 2 if kernel else 0),
            (self.branch, 6 if deeper else 0),
            (self.match, 1 if deeper else 0),
            (self.loops.for_loop, 4 if deeper else 0),
            (self.loops.while_loop, 3 if deeper else 0),
            (self.loops.unrolled, 2 if deeper and not context.unrolled else 0),
            (self.guarded_exit, 9 if context.loops or not kernel else 1),
            (self.cooperation.statement, 12 if together and context.uniform else 0),
            (self.cooperation.plane, 4 if together and context.plane_uniform else 0),
        ]

    def has(self, kind: type) -> bool:
        """Whether some local holds a value of a kind."""
        return any(isinstance(one.type, kind) for one in self.scope.composites)

    def structs(self, context: Context) -> tuple[Node, ...]:
        return struct_statement(self.assignments, context)

    def vectors(self, context: Context) -> tuple[Node, ...]:
        return vector_statement(self.assignments, context)

    def views(self, context: Context) -> tuple[Node, ...]:
        return view_statement(self.scope, context) or self.accesses.store(context)

    def reports(self, context: Context) -> tuple[Node, ...]:
        return report_statement(self.scope, context)

    def here(self, context: Context, *, uniform: bool = False) -> Expressions:
        """Expressions at this point."""
        return Expressions(self.scope, context, uniform=uniform)

    # ── branches ──

    def branch(self, context: Context) -> tuple[Node, ...]:
        """`if`, with `elif` and `else` at times."""
        uniform = self.scope.chance(0.3)
        here = self.here(context, uniform=uniform)
        inside = context.inside(uniform=uniform)
        cooperative = self.scope.cooperative and not self.scope.returned
        if cooperative and context.plane_uniform and self.scope.chance(0.2):
            return self.plane_branch(context)
        if self.scope.chance(0.1):
            return self.named_branch(context)
        text = here.condition()
        arms: list[Node] = []
        body = self.block(inside, self.scope.random.randint(1, 3))
        if self.scope.chance(0.25):
            other = f"elif {here.condition()}:"
            arms.append(Node(text=other, body=self.block(inside, self.scope.random.randint(1, 2))))
        if self.scope.chance(0.5):
            arms.append(
                Node(text="else:", body=self.block(inside, self.scope.random.randint(1, 3)))
            )
        return (Node(text=f"if {text}:", body=body, arms=tuple(arms)),)

    def named_branch(self, context: Context) -> tuple[Node, ...]:
        """A branch whose condition gives a value a name."""
        self.scope.features.add(Feature.WALRUS)
        type = self.scope.random.choice((I32, INDEX, U8, U64))
        here = self.here(context)
        value = here.value(type)
        name = self.assignments.new(type)
        divisor = self.scope.random.randint(2, 5)
        head = f"if ({name} := {value}) % {divisor} {here.pick('==', '!=', '>')} 1:"
        return (Node(text=head, body=self.block(context.inside(uniform=False), 2)),)

    def match(self, context: Context) -> tuple[Node, ...]:
        """`match` on an integer: numbers, alternatives, and what is left, named or not."""
        self.scope.features.add(Feature.MATCH)
        if self.scope.chance(0.3):
            return self.match_pair(context)
        uniform = self.scope.chance(0.3)
        type = self.scope.random.choice((I32, INDEX, U8, U64))
        here = self.here(context, uniform=uniform)
        inside = context.inside(uniform=uniform)
        cases = ["case 0:", "case 1 | 2:", "case 3:", "case 4:"]
        chosen = cases[self.scope.random.randrange(2) :][: self.scope.random.randint(1, 3)]
        text = f"match {here.value(type)} % {self.scope.random.randint(2, 5)}:"
        nodes = [Node(text=self.guarded(case, here), body=self.block(inside, 2)) for case in chosen]
        with self.scope.block():
            name = "_"
            if self.scope.chance(0.4):
                same = uniform and self.assignments.settled(context)
                name = self.assignments.new(type, uniform=same)
            nodes.append(Node(text=f"case {name}:", body=self.block(inside, 2), pinned=True))
        return (Node(text=text, body=tuple(nodes)),)

    def guarded(self, case: str, here: Expressions) -> str:
        """A case that also asks for something else, at times."""
        if not self.scope.chance(0.3):
            return case
        self.scope.features.add(Feature.CASE_GUARD)
        return f"{case[:-1]} if {here.condition()}:"

    def match_pair(self, context: Context) -> tuple[Node, ...]:
        """`match` on a pair of integers, whose cases bind one and ask about it."""
        self.scope.features.add(Feature.CASE_GUARD)
        here, inside = self.here(context), context.inside(uniform=False)
        pair = ", ".join(
            f"{here.value(type, 1)} % {self.scope.random.randint(2, 4)}" for type in (I32, U8)
        )
        name = self.scope.fresh("b")
        asked = f"{name} {here.pick('<', '==', '>')} 1"
        heads = (
            f"case (0, {name}) if {asked}:",
            f"case ({name}, 1 | 2) if {asked}:",
            "case (1, _):",
        )
        nodes = []
        for head in self.scope.random.sample(heads, 2):
            with self.scope.block():
                type = I32 if head.startswith(f"case ({name}") else U8
                if name in head:
                    self.scope.variables.append(Variable(name=name, type=type, assignable=False))
                nodes.append(Node(text=head, body=self.block(inside, 1)))
        nodes.append(Node(text="case _:", body=self.block(inside, 1), pinned=True))
        return (Node(text=f"match ({pair}):", body=tuple(nodes)),)

    def plane_branch(self, context: Context) -> tuple[Node, ...]:
        """A branch that whole planes take."""
        self.scope.features.add(Feature.PLANE)
        condition = (
            f"cb.plane_{self.scope.random.choice(('any', 'all'))}({self.here(context).condition()})"
        )
        body = self.block(context.inside(uniform=False, plane_uniform=True), 2)
        return (Node(text=f"if {condition}:", body=body),)

    # ── exits ──

    def guarded_exit(self, context: Context) -> tuple[Node, ...]:
        """`if condition: …; break` or the like."""
        settled = self.assignments.settled(context)
        uniform = settled and self.scope.chance(0.5)
        inside = context.inside(uniform=uniform)
        here = self.here(context, uniform=uniform)
        condition = here.condition()
        with self.scope.block():
            body = self.block(inside, 1) if self.scope.chance(0.4) else ()
            end = self.leave(inside)
        if not end:
            return self.assignments.assign(context)
        return (Node(text=f"if {condition}:", body=(*body, *end)),)

    def leave(self, context: Context) -> tuple[Node, ...]:
        """An exit that may stand here, or nothing."""
        uniform = self.assignments.settled(context)
        choices: list[str] = []
        if context.loops and self.may_leave_loop(context.loops[-1], context, uniform=uniform):
            # a lost `continue` shows where units also leave the loop for good
            again = 6 if context.loops[-1].left_early else 2
            choices += ["break", "break", *["continue"] * again]
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
        if not uniform and not loop.unrolled:
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
            if not uniform and not context.loops[-1].unrolled:
                self.scope.features |= {Feature.DIVERGENT_EXIT, Feature.DIVERGENT_LOOP}
        if context.results is None:
            self.scope.returned |= not uniform
            return "return"
        here = self.here(context)
        values = (here.value(type) for type in context.results)
        return f"return {context.result.format(*values)}"
