"""Floats computed from literals and locals begun by them have the precision of where they go.

Plain Python computes what f64 kernels must give, to the bit; an f32 kernel does the same in f32.
"""

import random
from typing import Any

import numpy as np
import pytest

import cubepy as cb

UNITS = 7
HEAD = "def program(out):\n    i = cb.ABSOLUTE_POS\n"


class Programs:
    """Statements over locals that all come from literals; `i` decides at run time."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["a"]
        self.lines = [f"a = {self.literal()}"]

    def literal(self) -> str:
        return repr(self.random.choice((0.1, 0.7, 1.3, 3.7, 1e-3)) * self.random.choice((1, -1)))

    def leaf(self) -> str:
        return self.random.choice((*self.names, *self.names, self.literal()))

    def value(self, depth: int = 3) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.leaf()
        left, right = self.value(depth - 1), self.value(depth - 1)
        return self.random.choice(
            (
                f"({left} + {right})",
                f"({left} - {right})",
                f"({left} * {right})",
                f"(-{left})",
                f"abs({left})",
                f"min({left}, {right})",
                f"max({left}, {right})",
                f"({left} if i < 3 else {right})",
            )
        )

    def grow(self, indent: str = "", depth: int = 2) -> None:
        """Some more statements."""
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.35 and not indent:
                name = f"v{len(self.names)}"
                self.lines.append(f"{name} = {self.value()}")
                self.names.append(name)
            elif kind < 0.7 or depth == 0:
                sign = self.random.choice(("=", "+=", "*="))
                self.lines.append(f"{indent}{self.random.choice(self.names)} {sign} {self.value()}")
            else:
                head = self.random.choice(("if i % 2 == 0:", "for _ in range(i % 3):"))
                self.lines.append(f"{indent}{head}")
                self.grow(f"{indent}    ", depth - 1)

    def text(self) -> str:
        for _ in range(3):
            self.grow()
        self.lines.append(f"out[i] = {self.value()}")
        return HEAD + "".join(f"    {line}\n" for line in self.lines)


def kernel_of(text: str, element: Any) -> Any:
    body = text.replace("(out)", "(out: cb.Array[element])")
    names: dict[str, Any] = {"cb": cb, "element": element}
    cb.exec("import cubepy as cb\n@cb.cube\n" + body, names)
    return names["program"]


def computed_by_python(text: str) -> list[float]:
    results = []
    for unit in range(UNITS):
        out = [0.0] * UNITS
        names: dict[str, Any] = {}
        exec(text.replace("cb.ABSOLUTE_POS", str(unit)), names)
        names["program"](out)
        results.append(out[unit])
    return results


@pytest.mark.parametrize("seed", range(60))
def test_all_of_it_is_double_where_a_double_is_stored(seed: int) -> None:
    text = Programs(seed).text()
    out = np.zeros(UNITS)
    kernel_of(text, cb.f64).over(UNITS)(out)
    np.testing.assert_array_equal(out, computed_by_python(text), err_msg=text)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_of_it_is_double_elsewhere(seed: int) -> None:
    text = Programs(seed).text()
    assert "f64" not in str(kernel_of(text, cb.f32).inspect(np.zeros(UNITS, np.float32)).ir)


def test_what_is_said_to_be_single_stays_so() -> None:
    @cb.cube
    def single(said: cb.Array[cb.f64], called: cb.Array[cb.f64]) -> None:
        i = cb.ABSOLUTE_POS
        x = 0.1
        said[i] = x + cb.f32(0.2)
        y = cb.f32(x * 0.2)
        called[i] = y * 0.3

    said, called = np.zeros(1), np.zeros(1)
    single.over(1)(said, called)
    assert said[0] == np.float32(0.1) + np.float32(0.2)
    assert called[0] in (np.float32(0.1 * 0.2) * np.float32(0.3),
                         np.float32(0.1) * np.float32(0.2) * np.float32(0.3))  # fmt: skip
