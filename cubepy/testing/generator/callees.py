"""Random functions that kernels call: with early returns, several results, of every kind of Python.

Functions under `@cb.cube` or plain, lambdas, closures over a number, functions that take another
function or an array. A helper may call those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cubepy.ir import Scalar
from cubepy.testing.generator.expressions import Expressions
from cubepy.testing.generator.model import Feature, Node
from cubepy.testing.generator.scope import Context, Helper, Memory, MemoryKind, Scope, Variable
from cubepy.testing.generator.statements import Statements

__all__ = ["Helpers"]


class Helpers:
    """Makes helpers and tells the scope of them; `read_only` adds an array to the arguments."""

    def __init__(self, scope: Scope, read_only: Callable[[Scalar], str]) -> None:
        self.scope = scope
        self.read_only = read_only

    def some(self) -> list[Node]:
        """None, one or a few."""
        nodes: list[Node] = []
        for _ in range(self.scope.random.choice((0, 0, 1, 2, 3))):
            made = self.scope.random.choice(
                (self.function, self.function, self.function, self.expression, self.closure,
                 self.higher, self.reader, self.generic)
            )  # fmt: skip
            nodes += made()
        return nodes

    def function(self) -> list[Node]:
        """A function of a few statements with one, two or three results."""
        name = self.scope.fresh("helper")
        types = [self.scope.type() for _ in range(self.scope.random.randint(1, 3))]
        results = tuple(self.scope.type() for _ in range(self.scope.random.choice((1, 1, 2, 3))))
        nodes, fields, result = self._result(results)
        node, features = self.define(name, types, results, result)
        self.scope.helpers.append(
            Helper(
                name=name,
                parameters=tuple(types),
                results=results,
                fields=fields,
                features=features,
            )
        )
        return [*nodes, *node]

    def _result(self, results: tuple[Scalar, ...]) -> tuple[list[Node], tuple[str, ...], str]:
        """A named tuple for the results at times: its class, its fields, how one is made."""
        places = ", ".join(["{}"] * len(results))
        if len(results) == 1 or self.scope.chance(0.3):
            return [], (), places
        name = self.scope.fresh("Results")
        fields = tuple(self.scope.fresh("field") for _ in results)
        body = tuple(
            Node(text=f"{field}: {self.scope.spelling(type)}", pinned=True)
            for field, type in zip(fields, results, strict=True)
        )
        return (
            [Node(text=f"class {name}(NamedTuple):", body=body, pinned=True)],
            fields,
            f"{name}({places})",
        )

    def define(
        self,
        name: str,
        types: list[Scalar],
        results: tuple[Scalar, ...],
        result: str,
        *,
        memory: Memory | None = None,
        first: str = "",
        variables: Sequence[Variable] = (),
        most: int = 6,
    ) -> tuple[list[Node], frozenset[Feature]]:
        """The text of a function of up to `most` statements, and what it exercises.

        `first`: a parameter before the numbers; `variables`: what it gives besides them.
        """
        inner = Scope(random=self.scope.random, counter=self.scope.counter)
        inner.helpers += [helper for helper in self.scope.helpers if not helper.array]
        names = [inner.fresh("q") for _ in types]
        inner.variables += _parameters(names, types)
        inner.variables += variables
        inner.structs += self.scope.structs
        inner.memories += [memory] if memory else []
        context = Context(
            results=results, result=result, uniform=False, plane_uniform=False, depth=1
        )
        statements = Statements(inner, self.scope.random.randint(min(2, most), most))
        body = [*statements.assignments.declare(context)]
        while statements.budget > 0:
            body += statements.statement(context)
        features = inner.features | ({Feature.SEVERAL_RETURNS} if _returns(body) else set())
        features |= {Feature.NESTED_RETURN} if _returns(body, below=1) else set()
        features |= {Feature.NAMED_TUPLE} if result.startswith("Results") else set()
        body.append(Node(text=statements.give_back(context, uniform=False), pinned=True))
        self.scope.counter = inner.counter
        signature = [
            f"{one}: {self.scope.spelling(of)}" for one, of in zip(names, types, strict=True)
        ]
        first = memory.name if memory else first
        signature = [first, *signature] if first else signature
        head = Node(text=f"def {name}({', '.join(signature)}):", body=tuple(body), pinned=True)
        plain = first == "self" or self.scope.chance(0.5)
        decorator = [] if plain else [Node(text="@cb.cube", pinned=True)]
        return [*decorator, head], frozenset(features)

    def reader(self) -> list[Node]:
        """A function that is given an array to read."""
        element, name = self.scope.storable(), self.scope.fresh("helper")
        argument = self.read_only(element)
        types, results = [self.scope.type()], (self.scope.type(),)
        memory = Memory(name=self.scope.fresh("q"), element=element, kind=MemoryKind.READ)
        node, features = self.define(name, types, results, "{}", memory=memory)
        self.scope.helpers.append(
            Helper(
                name=name,
                parameters=tuple(types),
                results=results,
                array=argument,
                features=features,
            )
        )
        return node

    def generic(self) -> list[Node]:
        """A function of any numbers of one type, by a type variable or by a type it is given."""
        name, choose = self.scope.fresh("helper"), self.scope.random.choice
        forms = (
            "value {sign} other + {type}({number})",
            "value if value {order} {type}({number}) else {type}({number}) {sign} other",
            "min(value, cb.cast({type}, {number})) {sign} max(value, other)",
            "{type}(cb.f32(value) {sign} cb.f32(other))",
            "cb.select(value {order} other, {type}({number}), value {sign} {number})",
        )
        given = self.scope.chance(0.4)
        text = choose(forms).format(
            type="T" if given else "F", sign=choose("+-*"), order=choose(("<", "==", ">=")),
            number=choose((0, 1, 3, 100)),
        )  # fmt: skip
        for type in dict.fromkeys(self.scope.type(numbers=True) for _ in range(2)):
            function = self.scope.spelling(type) if given else ""
            self._known(name, [type, type], type, function, feature=Feature.GENERIC)
        parameters = "T, value, other" if given else "value: F, other: F"
        body = (Node(text=f"return {text}", pinned=True),)
        return [Node(text=f"def {name}({parameters}):", body=body, pinned=True)]

    # ── of one expression ──

    def expression(self) -> list[Node]:
        """A lambda."""
        name, type = self.scope.fresh("helper"), self.scope.type()
        types = [self.scope.type() for _ in range(self.scope.random.randint(1, 2))]
        text = self._lambda(types, type)
        self._known(name, types, type)
        return [Node(text=f"{name} = {text}", pinned=True)]

    def closure(self) -> list[Node]:
        """A function made by another, which it has a number from."""
        name, maker = self.scope.fresh("helper"), self.scope.fresh("maker")
        type = self.scope.type(numbers=True)
        text = f"return value {self.scope.random.choice('+-*')} {self.scope.spelling(type)}(number)"
        inner = Node(text="def made(value):", body=(Node(text=text, pinned=True),), pinned=True)
        body = (inner, Node(text="return made", pinned=True))
        self._known(name, [type], type)
        number = self.scope.random.choice((0, 1, 3, 7))
        return [
            Node(text=f"def {maker}(number):", body=body, pinned=True),
            Node(text=f"{name} = {maker}({number})", pinned=True),
        ]

    def higher(self) -> list[Node]:
        """A function that calls another one on what it is given, twice."""
        known = [
            one
            for one in self.scope.helpers
            if len(one.results) == 1
            and one.parameters == one.results
            and not one.array
            and not one.function
        ]
        if not known:
            return self.expression()
        name, other = self.scope.fresh("helper"), self.scope.random.choice(known)
        (type,) = other.parameters
        body = (Node(text="return function(function(value))", pinned=True),)
        self._known(name, [type], type, function=other.name)
        return [Node(text=f"def {name}(function, value):", body=body, pinned=True)]

    def _lambda(self, types: list[Scalar], result: Scalar) -> str:
        inner = Scope(random=self.scope.random, counter=self.scope.counter)
        inner.helpers += [helper for helper in self.scope.helpers if not helper.array]
        names = [inner.fresh("q") for _ in types]
        inner.variables += _parameters(names, types)
        context = Context(results=(result,), uniform=False, plane_uniform=False)
        text = Expressions(inner, context).value(result)
        self.scope.counter = inner.counter
        self.scope.features |= inner.features
        return f"lambda {', '.join(names)}: {self.scope.spelling(result)}({text})"

    def _known(
        self,
        name: str,
        types: list[Scalar],
        result: Scalar,
        function: str = "",
        feature: Feature = Feature.LAMBDA,
    ) -> None:
        self.scope.helpers.append(
            Helper(
                name=name,
                parameters=tuple(types),
                results=(result,),
                function=function,
                features=frozenset({feature}),
            )
        )


def _parameters(names: list[str], types: list[Scalar]) -> list[Variable]:
    return [
        Variable(name=name, type=type, assignable=False, runtime=True)
        for name, type in zip(names, types, strict=True)
    ]


def _returns(nodes: Sequence[Node], below: int = 0) -> bool:
    """Whether some statement returns; from below two others or a loop if it is `below` 1."""
    return any(
        (node.text.startswith("return") and below <= 0)
        or _returns(node.body, -1 if node.text.startswith(("for ", "while ")) else below - 1)
        or _returns(node.arms, below)
        for node in nodes
    )
