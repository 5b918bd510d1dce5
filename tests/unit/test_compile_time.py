"""Compiling takes time in proportion to what a kernel says, all the way to machine code."""

import functools
import inspect
from collections.abc import Callable

import numpy as np
import pytest

import cubepy as cb
from cubepy import compiler, frontend
from cubepy.errors import UnsupportedError
from tests.growth import assert_grows_less

Text = Callable[[int], str]


def body(lines: list[str], before: str = "v = x[i]", after: str = "x[i] = v") -> str:
    return "\n    ".join(
        ["def kernel(x: Array[f32]):", "i = cb.ABSOLUTE_POS", before, *lines, after]
    )


def elif_chain(count: int) -> str:
    arms = [f"elif v < {k}.0:\n        v = x[i + {k % 7}] * {k}.5" for k in range(count)]
    return body(["if v < -1.0:\n        v = 1.0", *arms])


def elif_of_equalities(count: int) -> str:
    arms = [f"elif n == {k}:\n        x[i] = {k}.5" for k in range(count)]
    return body(["if n == -1:\n        x[i] = 1.0", *arms], "n = i32(x[i])", "pass")


def match_of_cases(count: int) -> str:
    cases = [f"    case {k}:\n            v = x[i + {k % 7}] * {k}.5" for k in range(count)]
    return body(["match i32(v):", *cases])


def nested_ifs(count: int) -> str:
    inner = [
        " " * k + f"if x[i + {k % 7}] > {k}.0:\n     {' ' * k}v = v * {k}.5" for k in range(count)
    ]
    return body(inner)


def branches(count: int) -> str:
    return body([f"if v > {k}.0:\n        v = v * {k}.5 + x[{k % 7}]" for k in range(count)])


def helpers(count: int) -> str:
    written = "".join(f"def h{k}(v, w):\n    return v * {k}.5 + w\n" for k in range(count))
    return written + body([f"v = h{k}(v, x[{k % 7}])" for k in range(count)])


def chain_of_helpers(count: int) -> str:
    written = "".join(f"def h{k}(v):\n    return h{k - 1}(v) * {k}.5\n" for k in range(1, count))
    return f"def h0(v):\n    return v\n{written}" + body([f"v = h{count - 1}(v)"])


def loops(count: int) -> str:
    return body([f"for k in range(len(x)):\n        v += x[k] * {n}.5" for n in range(count)])


def sums(count: int) -> str:
    parts = [" + ".join(f"x[{k % 7}]" for k in range(500)) for _ in range(count // 500)]
    return body([f"v += {part}" for part in parts])


def statements(count: int) -> str:
    return body([f"v = v * {k}.5 + x[{k % 7}]" for k in range(count)])


def arrays(count: int) -> str:
    names = ", ".join(f"a{k}: Array[f32]" for k in range(count))
    lines = [f"    a{k}[i] = a{(k + 1) % count}[i] + {k}.5\n" for k in range(count)]
    return f"def kernel({names}):\n    i = cb.ABSOLUTE_POS\n{''.join(lines)}"


def conditions(count: int) -> str:
    return body(
        [
            "if "
            + " and ".join(f"x[i + {k % 7}] > {k}.0" for k in range(count))
            + ":\n        v = 1.0"
        ]
    )


def barriers(count: int) -> str:
    lines = [
        f"s[u] = v\n    cb.sync_cube()\n    v = v + s[63 - u] * {k}.5\n    cb.sync_cube()"
        for k in range(count)
    ]
    return body(["s = cb.shared(f32, 64)", "u = cb.UNIT_POS", *lines])


# What a kernel with twice as much takes is less than so many times as much: 4 would be quadratic.
MOST = 2.9
LENGTHS: dict[Text, int] = {
    elif_chain: 100,
    elif_of_equalities: 60,
    match_of_cases: 100,
    nested_ifs: 30,
    branches: 100,
    helpers: 100,
    chain_of_helpers: 30,
    loops: 50,
    sums: 5000,
    statements: 500,
    arrays: 100,
    conditions: 100,
    barriers: 20,
}


def compile_anew(text: str, device: cb.Device) -> None:
    """All that is done from the text of a kernel to its code."""
    names = cb.exec("import cubepy as cb\nfrom cubepy import Array, f32, i32\n" + text, {})
    source = frontend.capture(names["kernel"])
    arguments = {
        name: np.zeros(8, np.float32) for name in inspect.signature(names["kernel"]).parameters
    }
    options = frontend.LaunchOptions(cube_dim=(64, 1, 1))
    specialization = frontend.specialize(source, arguments, options)
    artifact = compiler.build(source, specialization, device.target).artifact
    if device.toolchain:
        device.compile(artifact)
    else:
        device.load(artifact)


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("text", LENGTHS, ids=lambda text: text.__name__)
def test_twice_as_much_takes_twice_as_long(text: Text, device: str) -> None:
    on = cb.device(device)
    count = LENGTHS[text] if device == "cpu" else LENGTHS[text] // 2
    few, some, many = (
        functools.partial(compile_anew, text(number), on)
        for number in (max(2, count // 10), count, 2 * count)
    )
    few()
    assert_grows_less(some, many, MOST)


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_long_chains_run(device: str) -> None:
    for text in (elif_of_equalities, match_of_cases):
        names = cb.exec("import cubepy as cb\nfrom cubepy import Array, f32, i32\n" + text(200), {})
        x = np.array([0, 1, 57, 199, 200, 3, 4, 5, 0, 0, 0, 0, 0, 0], np.float32)
        expected = x.copy()
        for k in range(8):
            n = int(x[k])
            if n < 200:
                expected[k] = n + 0.5 if text is elif_of_equalities else x[k + n % 7] * (n + 0.5)
        given = x.copy() if text is elif_of_equalities else x
        out = given.copy()
        cb.cube(names["kernel"]).over(1 if text is match_of_cases else 8, device=device)(out)
        count = 1 if text is match_of_cases else 8
        np.testing.assert_array_equal(out[:count], expected[:count])


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_what_is_nested_too_deeply_is_an_error_of_our_own(device: str) -> None:
    names = cb.exec(
        "import cubepy as cb\nfrom cubepy import Array, f32, i32\n" + elif_chain(1100), {}
    )
    with pytest.raises(UnsupportedError, match="nested too deeply"):
        cb.cube(names["kernel"]).over(8, device=device)(np.zeros(16, np.float32))
