"""Names that are assigned all over nested loops and branches hold what they hold in Python.

Small programs of little but names, loops, branches, `break` and `continue`: what passes over locals
have to get right. The witness is Python itself, a unit at a time.
"""

from random import Random
from typing import Any

import numpy as np
import pytest

import cubepy as cb

UNITS = 19
PROGRAMS = 20
_NAMES = ("a", "b")
_VALUES = ("{0}", "{1}", "{0} + 1", "{0} ^ {1}", "{0} & 5", "x[i]", "x[(i + 1) % 19]", "3", "n")
_CONDITIONS = ("x[i] == {0} % 5", "x[i] > 2", "{0} % 3 == 1", "{0} < {1}", "n == 2")


class _Program:
    """A random body; `n` is the number of the trip of some loop around."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._loops = 0
        self.lines = ["a = x[i] + 0", "b = x[(i + 3) % 19] + 0", "n = x[0] * 0"]
        self._block(0, 3)

    def _filled(self, forms: tuple[str, ...]) -> str:
        names = self._random.sample(_NAMES, 2)
        return self._random.choice(forms).format(*names)

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _block(self, depth: int, most: int, *, inside: bool = False) -> None:
        self._line(depth, f"{self._random.choice(_NAMES)} = {self._filled(_VALUES)}")
        for _ in range(self._random.randint(0, most)):
            self._statement(depth, inside=inside)

    def _statement(self, depth: int, *, inside: bool) -> None:
        kind = self._random.random()
        if depth == 4 or kind < 0.4:
            self._line(depth, f"{self._random.choice(_NAMES)} = {self._filled(_VALUES)}")
        elif kind < 0.65:
            self._branch(depth, inside=inside)
        elif kind < 0.9:
            self._loop(depth)
        elif inside:
            self._line(depth, f"if {self._filled(_CONDITIONS)}:")
            self._line(depth + 1, self._random.choice(("break", "continue")))

    def _branch(self, depth: int, *, inside: bool) -> None:
        self._line(depth, f"if {self._filled(_CONDITIONS)}:")
        self._block(depth + 1, 3, inside=inside)
        if inside and self._random.random() < 0.2:
            self._line(depth + 1, self._random.choice(("break", "continue")))
        if self._random.random() < 0.5:
            self._line(depth, "else:")
            self._block(depth + 1, 3, inside=inside)

    def _loop(self, depth: int) -> None:
        self._loops += 1
        trip = f"t{self._loops}"
        stop = self._random.choice(("3", "x[i] % 4", "2"))
        self._line(depth, f"for {trip} in range({stop}):")
        if self._random.random() < 0.6:
            self._line(depth + 1, f"n = x[0] * 0 + {trip}")
        self._block(depth + 1, 4, inside=True)


def in_python(body: str, x: list[int]) -> list[list[int]]:
    """What the names hold in the end, for every unit."""
    found = []
    for i in range(UNITS):
        names: dict[str, Any] = {"x": x, "i": i}
        exec(body, names)
        found.append([names["a"], names["b"]])
    return found


@pytest.mark.parametrize("target", ["cpu", "cpu:x86-64-v2", "cpu:x86-64-v3+gang=1"])
@pytest.mark.parametrize("part", range(2))
def test_names_hold_what_they_hold_in_python(part: int, target: str) -> None:
    x = (np.arange(UNITS) * 7 + 3) % 5
    for number in range(PROGRAMS):
        lines = _Program(1000 * part + number).lines
        names: dict[str, Any] = {"cb": cb}
        kernel = ["i = cb.ABSOLUTE_POS", *lines, "out[i, 0] = a", "out[i, 1] = b"]
        head = "@cb.cube\ndef kernel(x: cb.Array[cb.i64], out: cb.Tensor[cb.i64]):\n"
        cb.exec(head + "".join(f"    {line}\n" for line in kernel), names)
        out = np.zeros((UNITS, 2), np.int64)
        names["kernel"].launch(x, out, cube_count=1, cube_dim=UNITS, device=target)
        body = "\n".join(lines)
        assert out.tolist() == in_python(body, [int(value) for value in x]), body
