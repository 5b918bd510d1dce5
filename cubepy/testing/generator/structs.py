"""Random struct classes with fields and methods, and a struct as an argument of the kernel.

Fields are scalars, or structs made before. Methods return early as other functions do; one gives
another struct, one a number.
"""

from __future__ import annotations

from cubepy.ir import Scalar
from cubepy.testing.generator.callees import Helpers
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import Context, Helper, Scope, Struct, Variable
from cubepy.testing.generator.struct_values import enter_struct

__all__ = ["define_structs", "struct_argument"]


def define_structs(helpers: Helpers) -> list[Node]:
    """None, or one or two classes, the second with the first inside."""
    scope = helpers.scope
    nodes: list[Node] = []
    if scope.chance(0.25):
        for _ in range(scope.random.choice((1, 1, 2))):
            nodes += _define(helpers)
    return nodes


def _define(helpers: Helpers) -> list[Node]:
    scope = helpers.scope
    name = scope.fresh("Struct")
    own = [(scope.fresh("f"), scope.type()) for _ in range(scope.random.randint(1, 2))]
    fields, places = list(own), ["{}"] * len(own)
    lines = [f"{field}: {scope.spelling(type)}" for field, type in own]
    if scope.structs:
        inner, field = scope.structs[-1], scope.fresh("f")
        fields += [(f"{field}.{path}", type) for path, type in inner.fields]
        places.append(inner.pattern)
        lines.append(f"{field}: {inner.name}")
    pattern = f"{name}({', '.join(places)})"
    types = tuple(type for _, type in fields)
    methods: list[Helper] = []
    body = [Node(text=line, pinned=True) for line in lines]
    for results, result in ((types, pattern), ((scope.type(),), "{}")):
        method, nodes = _method(helpers, fields, results, result)
        methods.append(method)
        body += nodes
    scope.structs.append(
        Struct(
            name=name,
            fields=tuple(fields),
            pattern=pattern,
            own=tuple(own),
            methods=tuple(methods),
        )
    )
    return [
        Node(text="@cb.struct", pinned=True),
        Node(text=f"class {name}:", body=tuple(body), pinned=True),
    ]


def _method(
    helpers: Helpers,
    fields: list[tuple[str, Scalar]],
    results: tuple[Scalar, ...],
    result: str,
) -> tuple[Helper, list[Node]]:
    """A method, or a property where it takes nothing."""
    scope = helpers.scope
    name, types = scope.fresh("m"), [scope.type() for _ in range(scope.random.randrange(2))]
    seen = [
        Variable(name=f"self.{path}", type=type, assignable=False, part=True)
        for path, type in fields
    ]
    nodes, features = helpers.define(
        name, types, results, result, first="self", variables=seen, most=2
    )
    if not types:
        nodes = [Node(text="@property", pinned=True), *nodes]
    method = Helper(
        name=f".{name}",
        parameters=tuple(types),
        results=results,
        features=features | {Feature.METHOD},
    )
    return method, nodes


def struct_argument(scope: Scope) -> tuple[Struct, str, str] | None:
    """A struct for the kernel to be given: its class, the parameter's name, what is given."""
    if not scope.structs or not scope.chance(0.4):
        return None
    struct, name = scope.structs[-1], scope.fresh("t")
    here = Expressions(Scope(random=scope.random), Context(results=()))
    values = [here.literal(type) for _, type in struct.fields]
    enter_struct(scope, name, struct, fixed=True)
    return struct, name, struct.pattern.format(*values)
