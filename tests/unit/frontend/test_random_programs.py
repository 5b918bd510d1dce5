"""Random programs mean in a kernel what they mean in Python, which runs the very same text.

Every value is kept below 97, so Python's integers and the kernel's i64 agree. What is random is
control flow: nested loops of every kind with `break`, `continue`, `else` and `return`, branches,
short-circuit, conditional expressions, tuples, helpers with early returns.
"""

import random
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

import cubepy as cb
from cubepy import i64

UNITS = 6
NAMES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Where:
    """The place of a line: how deep, whether in a loop, whether in the helper."""

    depth: int = 1
    loop: bool = False
    helper: bool = False


class Program:
    """Writes one random program."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.lines: list[str] = []
        self.budget = choose.randint(4, 22)
        self.counter = 0

    def text(self) -> str:
        self.lines += [
            "def helper(p: i64, q: i64):",
            "    a, b, c, d = p, q, 1, 2",
            "    x = (3, 1, 4, 1)",
        ]
        self.block(Where(helper=True), self.choose.randint(1, 3))
        self.lines += ["    return (a + b) % 97, (c - d) % 97", ""]
        self.lines += ["def kernel(x, out):", "    i = cb.ABSOLUTE_POS"]
        self.lines += ["    a, b = x[i], 3", "    c = a + 1", "    d = i64(7)", "    a = a % 97"]
        self.block(Where(), self.choose.randint(2, 6))
        self.lines += [f"    out[i, {at}] = {name}" for at, name in enumerate(NAMES)]
        return "\n".join(self.lines) + "\n"

    def value(self, depth: int = 0) -> str:
        pick = self.choose.randrange(9 if depth < 2 else 3)
        if pick < 2:
            return self.choose.choice(NAMES)
        if pick == 2:
            return str(self.choose.randint(-5, 12))
        if pick == 3:
            test = self.condition(depth + 1)
            return f"({self.value(depth + 1)} if {test} else {self.value(depth + 1)})"
        operator = self.choose.choice(["+", "-", "*", "//", "%"])
        right = self.value(depth + 1)
        if operator in ("//", "%"):
            right = str(self.choose.choice([-7, -3, 2, 5, 9]))
        return f"({self.value(depth + 1)} {operator} {right}) % 97"

    def condition(self, depth: int = 0) -> str:
        pick = self.choose.randrange(7 if depth < 2 else 2)
        if pick < 3:
            operator = self.choose.choice(["<", "<=", "==", "!=", ">", ">="])
            return f"{self.value(depth + 1)} {operator} {self.value(depth + 1)}"
        if pick == 3:
            return f"not ({self.condition(depth + 1)})"
        if pick == 4:
            return (
                f"{self.value(depth + 1)} < {self.choose.choice(NAMES)} <= {self.value(depth + 1)}"
            )
        word = self.choose.choice(["and", "or"])
        return f"(({self.condition(depth + 1)}) {word} ({self.condition(depth + 1)}))"

    def block(self, at: Where, statements: int) -> None:
        for _ in range(statements):
            self.budget -= 1
            self.statement(at)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def statement(self, at: Where) -> None:
        options = ["assign", "assign", "augment", "swap"]
        if self.budget > 0 and at.depth < 5:
            options += ["if", "if", "for", "while", "unroll"]
        if at.loop:
            options += ["leave", "leave"]
        if at.depth > 1:
            options.append("return")
        if not at.helper:
            options.append("call")
        kind = self.choose.choice(options)
        getattr(self, f"write_{kind}")(at)

    def write_assign(self, at: Where) -> None:
        self.line(at.depth, f"{self.choose.choice(NAMES)} = {self.value()}")

    def write_augment(self, at: Where) -> None:
        name = self.choose.choice(NAMES)
        self.line(at.depth, f"{name} += {self.value()}")
        self.line(at.depth, f"{name} %= 97")

    def write_swap(self, at: Where) -> None:
        first, second = self.choose.sample(NAMES, 2)
        self.line(at.depth, f"{first}, {second} = {second}, {self.value()}")

    def write_call(self, at: Where) -> None:
        first, second = self.choose.sample(NAMES, 2)
        self.line(
            at.depth, f"{first}, {second} = helper({self.value()}, {self.choose.choice(NAMES)})"
        )

    def write_return(self, at: Where) -> None:
        self.line(at.depth, f"if {self.condition()}:")
        if at.helper:
            self.line(at.depth + 1, f"return {self.choose.choice(NAMES)}, {self.value()}")
        else:
            self.line(at.depth + 1, f"out[i, 0] = {self.value()}")
            self.line(at.depth + 1, "return")

    def write_leave(self, at: Where) -> None:
        self.line(at.depth, f"if {self.condition()}:")
        self.line(at.depth + 1, self.choose.choice(["break", "continue"]))

    def write_if(self, at: Where) -> None:
        self.line(at.depth, f"if {self.condition()}:")
        self.inner(at)
        if self.choose.random() < 0.4:
            self.line(at.depth, f"elif {self.condition()}:")
            self.inner(at)
        if self.choose.random() < 0.6:
            self.line(at.depth, "else:")
            self.inner(at)

    def write_for(self, at: Where) -> None:
        self.counter += 1
        name = f"k{self.counter}"
        bounds = self.choose.choice(["5", "1, 4", "b % 6", "6, 0, -2", "a % 3, 5", "3, 3"])
        self.line(at.depth, f"for {name} in range({bounds}):")
        if self.choose.random() < 0.7:
            self.line(at.depth + 1, f"{self.choose.choice(NAMES)} = ({name} + {self.value()}) % 97")
        self.inner(replace(at, loop=True))
        self.otherwise(at)

    def write_unroll(self, at: Where) -> None:
        self.counter += 1
        name = f"k{self.counter}"
        values = self.choose.choice(["cb.unroll(range(3))", "(5, 1)", "cb.unroll(range(4, 0, -2))"])
        self.line(at.depth, f"for {name} in {values}:")
        if self.choose.random() < 0.7:
            self.line(at.depth + 1, f"{self.choose.choice(NAMES)} = ({name} * {self.value()}) % 97")
        self.inner(replace(at, loop=True))
        self.otherwise(at)

    def write_while(self, at: Where) -> None:
        self.counter += 1
        name = f"w{self.counter}"
        self.line(at.depth, f"{name} = 0")
        self.line(at.depth, f"while {name} < 6 and {self.condition()}:")
        self.line(at.depth + 1, f"{name} += 1")
        self.inner(replace(at, loop=True))
        self.otherwise(at)

    def otherwise(self, at: Where) -> None:
        if self.choose.random() < 0.3:
            self.line(at.depth, "else:")
            self.inner(at)

    def inner(self, at: Where) -> None:
        count = self.choose.randint(1, 3)
        self.block(replace(at, depth=at.depth + 1), count)


class Out:
    def __init__(self) -> None:
        self.rows = [[0] * len(NAMES) for _ in range(UNITS)]

    def __setitem__(self, at: tuple[int, int], value: int) -> None:
        self.rows[at[0]][at[1]] = value


def in_python(text: str, x: list[int]) -> list[list[int]]:
    out = Out()
    for unit in range(UNITS):
        stub = SimpleNamespace(ABSOLUTE_POS=unit, unroll=lambda values: values)
        names: dict[str, Any] = {"cb": stub, "i64": int}
        exec(text, names)
        names["kernel"](x, out)
    return out.rows


def in_a_kernel(text: str, x: list[int]) -> list[list[int]]:
    names: dict[str, Any] = {"cb": cb, "i64": i64}
    cb.exec(text, names)
    out = np.zeros((UNITS, len(NAMES)), np.int64)
    cb.cube(names["kernel"]).over(UNITS, device="reference")(np.array(x, np.int64), out)
    return [[int(value) for value in row] for row in out]


@hypothesis.settings(
    max_examples=60, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(st.randoms(use_true_random=False))
def test_kernel_and_python_agree(choose: random.Random) -> None:
    text = Program(choose).text()
    hypothesis.note(text)
    x = [0, 1, 5, 12, 40, 96]
    assert in_a_kernel(text, x) == in_python(text, x)
