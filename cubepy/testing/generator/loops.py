"""Random loops: over ranges, under conditions, and written out while compiling.

A loop that holds barriers is `cooperative`: all units of the cube make its trips together, and its
bounds are made of what is provably the same for all. Loops make at most a few trips.
"""

from __future__ import annotations

from typing import Protocol

from cubepy.ir import I32, INDEX, U8, Scalar
from cubepy.testing.generator.assignments import Assignments
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import Context, Loop, Scope, Variable

__all__ = ["Loops"]


class Blocks(Protocol):
    """What loops need of the maker of statements."""

    def block(self, context: Context, count: int) -> tuple[Node, ...]:
        """Some statements in a scope of their own."""

    def note_exit(self, loop: Loop, *, uniform: bool, breaks: bool = True) -> None:
        """Remember that a loop is left."""


class Loops:
    """Makes loops whose bodies come from `blocks`."""

    def __init__(self, scope: Scope, blocks: Blocks, assignments: Assignments) -> None:
        self.scope = scope
        self.blocks = blocks
        self.assignments = assignments
        self.unrolled_names: set[str] = set()

    # ── at run time ──

    def for_loop(self, context: Context) -> tuple[Node, ...]:
        """`for … in range(…)`; the variable outlives the loop if it was assigned before."""
        loop = self.new_loop(context)
        uniform = loop.cooperative or self.scope.chance(0.4)
        type = self.scope.random.choice((INDEX, INDEX, I32, U8))
        here = self.assignments.here(context, uniform=uniform)
        bounds, type = self._bounds(type, here, context)
        outlives, before = self.scope.chance(0.15), []
        name = self.scope.fresh("j") if outlives else self._name(type)
        # An assigned name has one type everywhere: an unrolled loop cannot share it.
        changes = (
            not loop.cooperative and name not in self.unrolled_names and self.scope.chance(0.2)
        )
        if changes:
            self.scope.loop_names.pop(name, None)
        variable = Variable(
            name=name,
            type=type,
            uniform=loop.cooperative and not outlives,
            assignable=changes,
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
            body = self._body(context.in_loop(loop), loop)
        return (*before, Node(text=head, body=body, arms=self._else(context, loop)))

    def _bounds(self, type: Scalar, here: Expressions, context: Context) -> tuple[str, Scalar]:
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
        here = self.assignments.here(context, uniform=uniform)
        counter = Variable(name=name, type=I32, uniform=loop.cooperative, assignable=False)
        self.scope.variables.append(counter)
        condition = f"{name} < {trips}"
        first = [Node(text=f"{name} += 1", pinned=True)]
        if self.scope.chance(0.2):
            condition, stop = "True", Node(text="break", pinned=True)
            first.insert(0, Node(text=f"if {name} >= {trips}:", body=(stop,), pinned=True))
            self.blocks.note_exit(loop, uniform=True)
        elif self.scope.chance(0.8):
            parts = [condition, here.condition()]
            self.scope.random.shuffle(parts)
            condition = f"{parts[0]} and {parts[1]}"
            if not uniform:
                self.scope.features.add(Feature.DIVERGENT_LOOP)
        body = self._body(context.in_loop(loop), loop)
        arms = self._else(context, loop)
        self.scope.features |= {Feature.WHILE_ELSE} if arms else set()
        return (
            Node(text=f"{name} = 0", pinned=True),
            Node(text=f"while {condition}:", body=(*first, *body), arms=arms),
        )

    # ── while compiling ──

    def unrolled(self, context: Context) -> tuple[Node, ...]:
        """A loop that is written out: its variable is a number in each copy of the body."""
        self.scope.features.add(Feature.UNROLLED)
        loop = self.new_loop(context, unrolled=True)
        name = self._name(None)
        self.unrolled_names.add(name)
        heads = (
            f"for {name} in cb.unroll(range({self.scope.random.randint(0, 3)})):",
            f"for {name} in cb.unroll(range(3, 0, -2)):",
            f"for {name} in (2, 0, 3):",
            f"for {name} in NUMBERS:",
        )
        head, comptimes = self.scope.random.choice(heads), [name]
        if self.scope.chance(0.25):
            place = self.scope.fresh("e")
            head, comptimes = f"for {place}, {name} in enumerate((5, 0)):", [place, name]
        with self.scope.block():
            self.scope.comptimes += comptimes
            nodes = self._decided(name, context) if self.scope.chance(0.3) else ()
            nodes += self._body(context.in_loop(loop), loop, at_most=2)
        return (Node(text=head, body=nodes, arms=self._else(context, loop)),)

    def _decided(self, name: str, context: Context) -> tuple[Node, ...]:
        """A branch that each copy of the body has decided."""
        self.scope.features.add(Feature.COMPTIME_BRANCH)
        inside = context.inside(uniform=True)
        arms = []
        for _ in range(2):
            with self.scope.block():
                arms.append(self.assignments.assign(inside))
        other = Node(text="else:", body=arms[1])
        test = self.scope.random.choice(
            (f"{name} > 1", f"{name} % 2 == 0", f"NUMBERS[0] == {name}")
        )
        return (Node(text=f"if {test}:", body=arms[0], arms=(other,)),)

    # ── both ──

    def _name(self, type: Scalar | None) -> str:
        """A new name, or that of an earlier loop of the other kind."""
        names = self.scope.loop_names
        active = {one.name for one in self.scope.variables} | set(self.scope.comptimes)
        other = [
            name
            for name, before in names.items()
            if name not in active and (before is None or type is None or before is type)
        ]
        if other and self.scope.chance(0.95):
            name = self.scope.random.choice(other)
            if (names[name] is None) != (type is None):
                self.scope.features.add(Feature.SHARED_NAME)
        else:
            name = self.scope.fresh("j")
        names[name] = type or names.get(name)
        return name

    def new_loop(self, context: Context, *, unrolled: bool = False) -> Loop:
        """A loop, for all units together where that is possible and wanted."""
        settled = self.assignments.settled(context)
        together = settled and self.scope.cooperative and self.scope.chance(0.6)
        if not unrolled:
            self.scope.features.add(Feature.LOOP)
        return Loop(cooperative=together, phase=context.phase, unrolled=unrolled)

    def _body(self, inside: Context, loop: Loop, *, at_most: int = 4) -> tuple[Node, ...]:
        """The statements of a loop; the last often changes what is seen after it, so that a unit
        which makes another number of trips shows.
        """
        before = self.scope.returned
        with self.scope.block():
            seen = self.assignments.assign(inside) if self.scope.chance(0.6) else ()
        nodes = self.blocks.block(inside, self.scope.random.randint(min(2, at_most), at_most))
        assert before or not (self.scope.returned and loop.cooperative)
        return (*nodes, *seen)

    def _else(self, context: Context, loop: Loop) -> tuple[Node, ...]:
        """`else` of a loop, which units that broke do not run."""
        if not self.scope.chance(0.35 if loop.left_early else 0.08):
            return ()
        self.scope.features.add(Feature.LOOP_ELSE)
        inside = context.inside(uniform=loop.cooperative or not loop.left_early)
        return (Node(text="else:", body=self.blocks.block(inside, 2)),)
