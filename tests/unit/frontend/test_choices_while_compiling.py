"""A conditional expression whose condition is known gives what it gives at run time."""

import itertools
from typing import Any

import numpy as np
import pytest

import cubepy as cb

TYPES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64")
ENDS = {name: np.iinfo(name.replace("u", "uint") if name[0] == "u" else f"int{name[1:]}").max
        for name in TYPES if name[0] != "f"}  # fmt: skip


def numpy_name(name: str) -> str:
    return {"i": "int", "u": "uint", "f": "float"}[name[0]] + name[1:]


def results(condition: str, type: str, literal: str, use: str) -> Any:
    """What `use` makes of a choice between an element and a literal, both ways round."""
    text = (
        "@cb.cube\n"
        "def kernel(x, yes, out):\n"
        "    v = x[0]\n"
        "    yes = yes[0]\n"
        f"    a = (v if not ({condition}) else {literal}){use}\n"
        f"    b = ({literal} if {condition} else v){use}\n"
        f"    p, q = (v, 1) if not ({condition}) else ({literal}, v)\n"
        f"    c = (p{use}) + q\n"
        "    out[0], out[1], out[2] = a, b, c\n"
    )
    names: dict[str, Any] = {"cb": cb}
    cb.exec(text, names)
    x = np.array([3], numpy_name(type))
    out = np.zeros(3, np.float64 if type[0] == "f" else x.dtype)
    yes = np.array([True])
    names["kernel"].over(1, device="reference")(x, yes, out)
    return out.tolist()


@pytest.mark.parametrize(
    ("type", "use"), list(itertools.product(TYPES, (" + 1", " << 1", " * 3", " - 2", " // 2", "")))
)
def test_the_literal_has_the_type_of_the_arm_not_taken(type: str, use: str) -> None:
    if type[0] == "f" and "<" in use:
        use = " + 0.1"
    literal = str(ENDS.get(type, 3.7))
    assert results("True", type, literal, use) == results("yes", type, literal, use)


def kernel_of(body: str) -> Any:
    names: dict[str, Any] = {"cb": cb, "np": np}
    cb.exec(f"@cb.cube\ndef kernel(x, out):\n    i = 0\n{body}", names)
    return names["kernel"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # An arm that makes no sense here says nothing about the other.
        ("    out[i] = (200 if x.ndim == 1 else x[i, i].nothing) + 1\n", 201),
        ("    out[i] = (200 if x.ndim == 1 else undefined(x)) + 1\n", 201),
        ("    out[i] = (200 if x.ndim == 1 else (1, 2)) + 1\n", 201),
        # Where the two could not have one type, the condition picks while compiling.
        ("    out[i] = (300 if True else x[i]) + 1\n", 301),
        ("    out[i] = 2.5 if False else 300\n", 300),
        # Nothing of the arm that is not taken is left behind.
        ("    s = (w := x[i]) if False else 127\n    w = 3.0\n    out[i] = s + i32(w)\n", 130),
        ("    f = lambda a: a + 1\n    out[i] = 7 if True else f(x[i])\n", 7),
        ("    n = 1\n    m = 5 if True else cb.f64(n) * 0.5 + n\n    out[i] = n << 31\n", -(2**31)),
        (
            "    t = cb.local_array(cb.i32, 4 if True else x[i])\n    out[i] = i32(len(t))\n",
            4,
        ),
        ("    out[i] = 1 if True else cb.comptime(print('shown'))\n", 1),
        ("    out[i] = 1 if True else 10**10**10\n", 1),
    ],
)
def test_an_arm_that_is_not_taken_leaves_only_its_type(
    body: str, expected: int, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = kernel_of(body.replace("i32(", "cb.i32("))
    out = np.zeros(1, np.int32)
    kernel.over(1, device="reference")(np.array([5], np.int8), out)
    assert out[0] == expected
    assert capsys.readouterr().out == ""
