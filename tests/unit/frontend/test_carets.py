"""Whatever functions of cubepy are given, complaints are at the user's line and say what to do."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import frontend
from cubepy.errors import Diagnostic, SourceError

NAMES = sorted(
    name
    for name in dir(cb)
    if not name.startswith("_") and name not in ("cube", "exec") and callable(getattr(cb, name))
)
GIVEN = (
    *("", "1", "1.5", "True", "3, 1, 2", "1.5, 2", "-1", "10**30", "1e400", "'a'", "None", "..."),
    *("()", "(1, 2)", "[1, 2]", "*(1, 2)", "range(3)", "len", "cb", "f32", "f32, 1", "i32, x[i]"),
    *("x", "x, x", "x, i", "x, i, 1.0", "x, 0, n[i]", "x[i]", "x[i], 'a'", "x[i], n[i]"),
    *("x[i], y=2", "x[i], x[i], x[i]", "n[i]", "n[i], n[i]", "n[i], n[i], n[i]", "z[i], z[i]"),
    *("b", "b, b", "v", "v, v", "v, x[i]", "s", "s, s", "(x[i], n[i])", "lambda q: q", "x[i], i"),
)
HEAD = """
import cubepy as cb
from cubepy import Array, Vector, f32, i32, u8
@cb.struct
class S:
    a: f32
@cb.cube
def kernel(x: Array[f32], n: Array[i32], z: Array[u8]):
    i = cb.ABSOLUTE_POS
    b = x[i] > 0.0
    v = Vector[f32, 4](1.0)
    s = S(x[i])
"""
ARGUMENTS = {
    "x": np.zeros(8, np.float32), "n": np.zeros(8, np.int32), "z": np.zeros(8, np.uint8)
}  # fmt: skip
FIRST = HEAD.count("\n") + 1


def complaints(calls: list[str]) -> Iterator[tuple[str, Diagnostic]]:
    """What is said about each call, and at most so many calls at once."""
    for start in range(0, len(calls), 12):
        some = calls[start : start + 12]
        text = HEAD + "".join(f"    {call}\n" for call in some)
        kernel = cb.exec(text, {})["kernel"]
        source = frontend.capture(kernel)
        options = frontend.LaunchOptions(cube_dim=(8, 1, 1))
        specialization = frontend.specialize(source, ARGUMENTS, options)
        try:
            frontend.lower(source, specialization)
        except SourceError as error:
            for diagnostic in error.diagnostics:
                line = diagnostic.loc.line - FIRST if diagnostic.loc.file == source.loc.file else -1
                yield some[line] if line >= 0 else "", diagnostic


@pytest.mark.parametrize("name", NAMES)
def test_complaints_about_a_function_of_cubepy_are_the_users(name: str) -> None:
    said: dict[str, list[Any]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cb.errors.CubeWarning)
        for call, diagnostic in complaints([f"cb.{name}({given})" for given in GIVEN]):
            said.setdefault(call, []).append(diagnostic)
    assert "" not in said
    for call, diagnostics in said.items():
        assert all(each.help for each in diagnostics), (call, diagnostics)
        assert not any(each.loc.inlined_at for each in diagnostics), call
        assert len(diagnostics) <= 3, diagnostics
