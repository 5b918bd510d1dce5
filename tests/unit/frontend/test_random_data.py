"""Random programs over structs, vectors, views and patterns mean what they mean in Python.

Python runs the very same text, on structs and vectors of the host and on NumPy's arrays. Numbers
are kept below 97, so Python's integers and the kernel's i64 agree. Random are generic structs that
hold structs, their methods, vectors in helpers, views of views, local arrays, `match` over tuples,
functions inside that see variables change, nested loops with `else` and returns from within.
"""

import dataclasses
import random
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Vector, i64

UNITS = 6
RESULTS = 8
N = TypeVar("N", bound=cb.Number)
FOUR: Any = Vector[i64, 4]


@cb.struct
class Spot(Generic[N]):
    x: N
    y: N

    def __add__(self, other: Any) -> Any:
        return Spot((self.x + other.x) % 97, (self.y + other.y) % 97)

    @property
    def total(self) -> Any:
        return (self.x + self.y) % 97

    def turned(self, times: Any = 1) -> Any:
        if times % 2 == 0:
            return self
        return Spot(self.y, self.x)

    def moved(self, by: Any, *, twice: bool = False) -> Any:
        return Spot((self.x + (by + by if twice else by)) % 97, self.y)


@cb.struct
class Span(Generic[N]):
    start: Spot[N]
    end: Spot[N]

    def __getitem__(self, at: Any) -> Any:
        return (self.start, self.end)[at]

    def longest(self) -> Any:
        for spot in (self.start, self.end):
            if spot.x > spot.y:
                return spot
        return self.start + self.end


def of_vectors(u: Any, v: Any, turn: Any) -> Any:
    """A vector from two, one way or the other."""
    if turn % 3 == 0:
        return (u + v) % 97
    w = u * v
    if turn % 3 == 1:
        return w % 97
    return (w - FOUR(v[3], v[0], v[1], v[2])) % 97


def searched(view: Any, wanted: Any) -> Any:
    """Where a number stands in a view of either kind, or how often loops went round."""
    rounds = 0
    for k in range(len(view)):
        while rounds < 50:
            rounds += 1
            if view[k] == wanted:
                return i64(k)
            if view[k] % 2 == 0:
                break
        else:
            return i64(90)
        if rounds > k + 4:
            continue
        rounds += 1
    else:  # noqa: PLW0120 (returns leave the loop as `break` does)
        if wanted > 5:
            return i64(rounds % 97)
    return i64(96 - rounds % 97)


class Program:
    """Writes one random program. `a b c` are numbers, `p q` spots, `s` a span, `u w` vectors,
    `t` a local array and `v` a view.
    """

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.lines: list[str] = []
        self.budget = choose.randint(6, 22)
        self.counter = 0

    def text(self) -> str:
        self.lines += [
            "def kernel(x, m, out):",
            "    i = cb.ABSOLUTE_POS",
            "    a, (b, c) = x[i], (i64(3), x[i + 1])",
            "    p = Spot(a, b)",
            "    q = Spot(c, i64(5))",
            "    s = Span(p, q)",
            "    u = Vector[i64, 4](a, b, c, 4)",
            "    w = Vector[i64, 4](1, 2, 3, 4)",
            "    t = cb.local_array(i64, 4, fill=2)",
            *(f"    {line}" for line in self.view()),
        ]
        self.block(1, self.choose.randint(4, 9))
        each = ("a", "b", "(p + q).total", "s.longest().x", "sum(u) % 97", "w[i % 4]",
                "(t[0] + 5 * t[1] + 7 * t[2] + 11 * t[3]) % 97", "searched(v, a)")  # fmt: skip
        self.lines += [f"    out[i, {at}] = {value}" for at, value in enumerate(each)]
        return "\n".join(self.lines) + "\n"

    def view(self) -> list[str]:
        """A row of a view of a view, or a part of a part of the array."""
        pick = self.choose
        if pick.random() < 0.5:
            return [f"v = x[{pick.randint(0, 4)}:][{pick.randint(0, 3)}:{pick.randint(4, 7)}]"]
        return [
            f"r = m[{pick.randint(0, 1)}:, {pick.randint(0, 1)}:]",
            f"v = r[{pick.choice(['i % 2', '1', 'a % 2'])}, :][{pick.randint(0, 1)}:]",
        ]

    def any_of(self, *options: str) -> str:
        return self.choose.choice(options)

    def number(self, depth: int = 0) -> str:
        if depth > 1 or self.choose.random() < 0.25:
            return self.any_of("a", "b", "c", str(self.choose.randint(-5, 12)))
        one, other = self.number(depth + 1), self.number(depth + 1)
        return self.any_of(
            f"({one} {self.any_of('+', '-', '*')} {other}) % 97",
            f"{one} // {self.any_of('-7', '3', '5')} % 97",
            f"({one} if {self.condition(depth + 1)} else {other})",
            f"{self.spot(depth + 1)}.{self.any_of('x', 'y', 'total')}",
            f"u[({one}) % 4]",
            f"{self.any_of('min', 'max')}({one}, {other})",
            f"{self.any_of('sum', 'max', 'min')}({self.vector(depth + 1)}) % 97",
            f"t[({one}) % 4]",
            f"v[({one}) % len(v)]",
            f"searched({self.any_of('v', 'v[1:]', 't', 'x[2:9]')}, {one})",
            f"(lambda k, by=c: (k * by + a) % 97)({one})",
        )

    def condition(self, depth: int = 0) -> str:
        sign = self.any_of("<", "<=", "==", "!=")
        one = f"{self.number(depth + 1)} {sign} {self.number(depth + 1)}"
        if depth > 1:
            return one
        return self.any_of(
            one,
            f"{self.any_of('any', 'all')}({self.vector(depth + 1)} > {self.choose.randint(0, 60)})",
            f"({one} {self.any_of('and', 'or')} {self.condition(depth + 1)})",
            f"not ({self.condition(depth + 1)})",
            f"{self.spot(depth + 1)} == {self.spot(depth + 1)}",
            f"0 <= {self.number(depth + 1)} < {self.choose.randint(5, 80)}",
        )

    def spot(self, depth: int = 0) -> str:
        if depth > 1 or self.choose.random() < 0.25:
            return self.any_of("p", "q", "s.start", "s.end")
        inner = self.spot(depth + 1)
        return self.any_of(
            f"({inner} + {self.spot(depth + 1)})",
            f"{inner}.turned({self.any_of('', 'a', 'times=b')})",
            f"{inner}.moved({self.number(depth + 1)}, twice={self.any_of('True', 'False')})",
            f"Spot(y={self.number(depth + 1)}, x=a)",
            f"({inner} if {self.condition(depth + 1)} else {self.spot(depth + 1)})",
            "s.longest()",
            f"s[{self.any_of('0', '1')}]",
        )

    def vector(self, depth: int = 0) -> str:
        if depth > 1 or self.choose.random() < 0.4:
            return self.any_of("u", "w")
        inner = self.vector(depth + 1)
        return self.any_of(
            f"of_vectors({inner}, {self.vector(depth + 1)}, {self.number(depth + 1)})",
            f"(({inner} + {self.number(depth + 1)}) % 97)",
            f"cb.select({inner} > 40, {self.vector(depth + 1)}, 7)",
            f"cb.insert({inner}, {self.choose.randint(0, 3)}, {self.number(depth + 1)})",
        )

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, statements: int, *, loop: bool = False) -> None:
        for _ in range(statements):
            self.budget -= 1
            self.statement(depth, loop=loop)

    def inner(self, depth: int, *, loop: bool = False) -> None:
        self.block(depth + 1, self.choose.randint(1, 2), loop=loop)

    def statement(self, depth: int, *, loop: bool) -> None:
        kinds: list[Callable[[int], None]] = [*[self.write_value] * 3, self.write_element]
        if self.budget > 0 and depth < 4:
            kinds += [self.write_match, self.write_function]
            kinds += [self.write_loop, partial(self.write_if, loop=loop)]
        if loop:
            kinds.append(self.write_leave)
        if depth > 1:
            kinds.append(self.write_return)
        self.choose.choice(kinds)(depth)

    def write_value(self, depth: int) -> None:
        self.line(depth, self.any_of(
            f"{self.any_of('a', 'b', 'c')} = {self.number()}",
            f"a = b = {self.number()}",
            f"a, b = {self.number()}, a",
            f"{self.any_of('p', 'q')} = {self.spot()}",
            f"p, q = q, {self.spot()}",
            f"s = Span({self.spot()}, {self.spot()})",
            f"s = dataclasses.replace(s, {self.any_of('start', 'end')}={self.spot()})",
            f"{self.any_of('u', 'w')} = {self.vector()}",
            f"c = ((b := {self.number()}) + b) % 97",
        ))  # fmt: skip

    def write_element(self, depth: int) -> None:
        self.line(depth, f"t[({self.number()}) % 4] {self.any_of('=', '+=')} {self.number()}")
        self.line(depth, f"t[{self.choose.randint(0, 3)}] %= 97")

    def write_leave(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, self.any_of("break", "continue"))

    def write_return(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, f"out[i, 0] = {self.number()}")
        self.line(depth + 1, "return")

    def write_if(self, depth: int, *, loop: bool) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.inner(depth, loop=loop)
        self.line(depth, "else:")
        self.inner(depth, loop=loop)

    def write_loop(self, depth: int) -> None:
        self.counter += 1
        name = f"k{self.counter}"
        head = self.any_of(
            f"for {name} in range({self.any_of('4', 'a % 5', '5, 0, -2')})",
            f"for {name} in {self.any_of('cb.unroll(range(3))', '(p.x, b, 4)')}",
        )
        if self.choose.random() < 0.3:
            self.line(depth, f"{name} = 0")
            head = f"while ({name} := {name} + 1) < 5 and {self.condition()}"
        self.line(depth, f"{head}:")
        self.line(depth + 1, f"a = (a + {name}) % 97")
        self.inner(depth, loop=True)
        if self.choose.random() < 0.4:
            self.line(depth, "else:")
            self.inner(depth)

    def write_function(self, depth: int) -> None:
        self.counter += 1
        name = f"f{self.counter}"
        self.line(depth, f"def {name}(k, by={self.any_of('c', '2', 'p.x')}):")
        self.line(depth + 1, f"if k > {self.choose.randint(0, 50)}:")
        self.line(depth + 2, f"return {self.number()}")
        self.line(depth + 1, f"return (k * by + {self.any_of('a', 'b', 'q.y')}) % 97")
        self.line(depth, f"b = {self.number()}")
        self.line(depth, f"c = {name}({self.number()})")

    def write_match(self, depth: int) -> None:
        parts = self.choose.choice([1, 2, 3])
        subject = (
            self.number(),
            f"({self.number()}, {self.number()})",
            f"(a, ({self.number()}, b))",
        )[parts - 1]
        self.line(depth, f"match {subject}:")
        for _ in range(self.choose.randint(1, 3)):
            guard = f" if {self.condition()}" if self.choose.random() < 0.3 else ""
            self.line(depth + 1, f"case {self.pattern(parts)}{guard}:")
            self.inner(depth + 1)
        if self.choose.random() < 0.7:
            self.line(depth + 1, "case _:")
            self.inner(depth + 1)

    def pattern(self, parts: int) -> str:
        small = str(self.choose.randint(0, 6))
        part = self.any_of("_", small, f"({small} | 8 | -1)", f"{small} as a")
        if parts == 3:
            return f"({self.any_of('_', small)}, ({part}, {self.any_of('_', 'c', small)}))"
        if parts == 2:
            return f"({part}, {self.any_of('_', 'b', small)})"
        return f"{small} | {self.choose.randint(7, 30)}"


class Out:
    def __init__(self) -> None:
        self.rows = [[0] * RESULTS for _ in range(UNITS)]

    def __setitem__(self, at: tuple[int, int], value: int) -> None:
        self.rows[at[0]][at[1]] = int(value)


NAMES: dict[str, Any] = {
    "Spot": Spot, "Span": Span, "Vector": Vector, "dataclasses": dataclasses,
    "of_vectors": of_vectors, "searched": searched,
}  # fmt: skip


def insert(vector: Any, at: int, value: Any) -> Any:
    made = [int(each) for each in vector]
    made[at] = int(value)
    return FOUR(*made)


def in_python(text: str, x: Any, m: Any) -> list[list[int]]:
    out = Out()
    for unit in range(UNITS):
        stub = SimpleNamespace(
            ABSOLUTE_POS=unit, unroll=lambda values: values, insert=insert,
            select=lambda c, a, b: FOUR(*np.where(np.array(list(c)), list(a), b)),
            local_array=lambda type, count, fill: [fill] * count,
        )  # fmt: skip
        names = {**NAMES, "cb": stub, "i64": int}
        exec(text, names)
        names["kernel"](x, m, out)
    return out.rows


def in_a_kernel(text: str, x: Any, m: Any, device: str) -> list[list[int]]:
    names: dict[str, Any] = {**NAMES, "cb": cb, "i64": i64}
    cb.exec(text, names)
    out = np.zeros((UNITS, RESULTS), np.int64)
    cb.cube(names["kernel"]).over(UNITS, device=device)(x, m, out)
    return [[int(value) for value in row] for row in out]


X = np.array([0, 1, 5, 12, 40, 96, 3, 3, 8, 22, 61, 7], np.int64)
M = np.arange(3 * 5, dtype=np.int64).reshape(3, 5) * 13 % 41


@pytest.mark.parametrize("device", ["reference"])
@hypothesis.settings(
    max_examples=25, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(choose=st.randoms(use_true_random=False))
def test_kernel_and_python_agree(device: str, choose: random.Random) -> None:
    text = Program(choose).text()
    hypothesis.note(text)
    assert in_a_kernel(text, X, M, device) == in_python(text, X, M)
