"""Random prints, and assertions: most of them hold, in ways that take some thought to see."""

from __future__ import annotations

from cubepy.ir import FLOATS, I32, INDEX, U8, U64
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import Context, Scope

__all__ = ["report_statement"]


def report_statement(scope: Scope, context: Context) -> tuple[Node, ...]:
    """`print` in a few units, or `assert`."""
    here = Expressions(scope, context)
    return _printed(here) if scope.chance(0.5) else _asserted(here)


def _printed(here: Expressions) -> tuple[Node, ...]:
    here.scope.features.add(Feature.PRINT)
    shown = [here.value(here.scope.type(), 1) for _ in range(here.random.randint(1, 2))]
    type = here.scope.type(numbers=True)
    form = ":.3f" if type in FLOATS else here.pick("", ":d", ":>5")
    shown.append(f'f"<{{{here.leaf(type)}{form}}}>"')
    statement = Node(text=f"print({', '.join(shown)})")
    few = here.leaf(here.random.choice((I32, U64, INDEX)))
    return (Node(text=f"if {few} % 8 == 3:", body=(statement,)),)


def _asserted(here: Expressions) -> tuple[Node, ...]:
    here.scope.features.add(Feature.ASSERTION)
    type, divisor = here.random.choice((I32, U8, INDEX, U64)), here.random.randint(2, 9)
    value, test = here.value(type), here.condition()
    holds = (
        f"({value}) % {divisor} < {divisor}",
        f"{test} or not {test}",
        f"min({value}, {divisor}) <= {divisor}",
        f"({value} & 7) * {divisor} <= {7 * divisor}",
    )
    condition = test if here.scope.chance(0.1) else here.pick(*holds)
    return (Node(text=f'assert {condition}, "{type}"'),)
