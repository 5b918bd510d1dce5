"""Statements about variables: new ones, assignments of every form, calls of helpers.

A variable that is provably one value for the cube is only ever assigned such values, by all units
together.
"""

from __future__ import annotations

from cubepy.ir import BOOL, F32, F64, FLOATS, I32, I64, INDEX, U32, U64, Scalar
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import Context, Helper, Scope, Variable

__all__ = ["Assignments"]


class Assignments:
    """Makes assignments from what a scope has in reach."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def here(self, context: Context, *, uniform: bool = False) -> Expressions:
        """Expressions at this point."""
        return Expressions(self.scope, context, uniform=uniform)

    def settled(self, context: Context) -> bool:
        """Whether all units of the cube are here together."""
        return context.uniform and not self.scope.returned

    # ── new variables ──

    def declare(self, context: Context) -> tuple[Node, ...]:
        """A new variable, sometimes provably uniform, sometimes from a bare literal."""
        if self.scope.chance(0.1):
            return self.weak(context)
        uniform = self.settled(context) and self.scope.chance(0.25)
        type = self.scope.type()
        here = self.here(context, uniform=uniform)
        text = here.value(type)
        if type in (I32, F32, BOOL) and self.scope.chance(0.2):
            text = here.pick(*{BOOL: ("True", "False"), F32: ("0.0", "-1.5")}.get(type, ("0", "7")))
        return (Node(text=f"{self.new(type, uniform=uniform)} = {text}"),)

    def new(self, type: Scalar, *, uniform: bool = False, stem: str = "v") -> str:
        """The name of a new variable."""
        name = self.scope.fresh(stem)
        self.scope.variables.append(Variable(name=name, type=type, uniform=uniform))
        return name

    def weak(self, context: Context) -> tuple[Node, ...]:
        """A bare literal whose type comes from what is added to it later."""
        self.scope.features.add(Feature.WEAK)
        type = self.scope.random.choice((I64, U64, U32, INDEX, F64))
        start = "1.0" if type is F64 else "3"
        value = self.here(context).value(type)
        name = self.new(type)
        return (
            Node(text=f"{name} = {start}", pinned=True),
            Node(text=f"{name} += {value}", pinned=True),
        )

    def walrus(self, context: Context) -> tuple[Node, ...]:
        """A name given inside an expression, and used further on in it."""
        self.scope.features.add(Feature.WALRUS)
        type = self.scope.type(numbers=True)
        here = self.here(context)
        value = here.value(type)
        name = self.new(type)
        text = f"({name} := {value}) {here.pick('+', '-', '*')} {here.value(type)}"
        return (Node(text=f"{self.new(type)} = {text}"),)

    def call(self, context: Context) -> tuple[Node, ...]:
        """New variables from a helper's results, taken apart or by the fields' names."""
        helper = self.scope.random.choice(self.scope.helpers)
        text = self.here(context).call(helper, 2)
        if helper.fields and self.scope.chance(0.5):
            return self._by_field(helper, text)
        made = [self.new(type) for type in helper.results]
        return (Node(text=f"{', '.join(made)} = {text}"),)

    def _by_field(self, helper: Helper, text: str) -> tuple[Node, ...]:
        whole = self.scope.fresh("t")
        fields = [
            Node(text=f"{self.new(type)} = {whole}.{field}")
            for field, type in zip(helper.fields, helper.results, strict=True)
        ]
        return (Node(text=f"{whole} = {text}"), *fields)

    def quotient(self, context: Context) -> tuple[Node, ...]:
        """Both results of `divmod`."""
        type = self.scope.type(numbers=True)
        left, right = self.here(context).operands(type, 2)
        text = f"divmod({left}, {right})"
        return (Node(text=f"{self.new(type)}, {self.new(type)} = {text}"),)

    # ── known variables ──

    def target(self, context: Context) -> Variable | None:
        """A variable that may be assigned here; a uniform one only by all units together."""
        known = self.scope.find(assignable=True)
        if not self.settled(context):
            known = [variable for variable in known if not variable.uniform]
        return self.scope.random.choice(known) if known else None

    def assign(self, context: Context) -> tuple[Node, ...]:
        """An assignment, plain or augmented; at times to two variables at once."""
        target = self.target(context)
        if target is None:
            return self.declare(context)
        here = self.here(context, uniform=target.uniform)
        other = self.like(target) if self.scope.chance(0.05) else None
        if other is not None:
            return (Node(text=f"{target.name} = {other.name} = {here.value(target.type)}"),)
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
        """Two variables change places, or get two values of one choice."""
        first = self.target(context)
        second = self.like(first) if first else None
        if first is None or second is None:
            return self.assign(context)
        here = self.here(context, uniform=first.uniform)
        pair = f"{second.name}, {first.name}"
        if self.scope.chance(0.3):
            values = f"{here.value(first.type)}, {first.name}"
            pair = f"({pair}) if {here.condition()} else ({values})"
        return (Node(text=f"{first.name}, {second.name} = {pair}"),)

    def like(self, first: Variable) -> Variable | None:
        """Another variable that may be assigned what this one may."""
        others = [
            variable
            for variable in self.scope.find(type=first.type, assignable=True)
            if variable is not first and variable.uniform == first.uniform
        ]
        return self.scope.random.choice(others) if others else None
