"""Runs a kernel everywhere: on the interpreter, in machine code, and folded from literals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import cubepy as cb

__all__ = ["DEVICES", "INTEGERS", "SIGNED", "UNSIGNED", "everywhere", "of_expression"]

DEVICES = ("reference", "cpu")
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = (*SIGNED, *UNSIGNED)
NAMES = "abc"


def everywhere(kernel: Any, *arguments: Any, shape: Any = None) -> list[Any]:
    """The arguments after a launch; all devices agree to the bit."""
    results = []
    for device in DEVICES:
        given = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        first = next(each for each in given if isinstance(each, np.ndarray))
        cb.cube(kernel).over(first.size if shape is None else shape, device=device)(*given)
        results.append(given)
    for expected, got in zip(*results, strict=True):
        np.testing.assert_array_equal(got, expected)
    return results[-1]


def of_expression(text: str, *columns: Sequence[Any], type: Any, result: Any = None) -> list[Any]:
    """An expression of `a`, `b`, `c` for each row of columns: at run time, and folded.

    Run time and folding agree; the values are returned.
    """
    arrays = [np.array(column, type) for column in columns]
    out = np.zeros(len(columns[0]), result or type)
    names = NAMES[: len(columns)]
    loads = "".join(f"    {name} = {name}_[i]\n" for name in names)
    parameters = ", ".join(f"{name}_" for name in names)
    head = f"def kernel({parameters}, out):\n    i = cb.ABSOLUTE_POS\n{loads}"
    *_, at_run_time = everywhere(_made(head + f"    out[i] = {text}\n"), *arrays, out)
    known = "".join(f"        {name} = cb.cast(T, row[{at}])\n" for at, name in enumerate(names))
    folded = _made(
        "def kernel(out, T: Comptime, rows: Comptime):\n    for k, row in enumerate(rows):\n"
        f"{known}        out[k] = {text}\n"
    )
    rows = tuple(zip(*(array.tolist() for array in arrays), strict=True))
    from_literals, *_ = everywhere(folded, out, np.dtype(type).type, rows, shape=1)
    np.testing.assert_array_equal(from_literals, at_run_time, err_msg=text)
    return [value.item() for value in at_run_time]


def _made(text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"cb": cb, "Comptime": cb.Comptime, "np": np}
    cb.exec(text, names)
    kernel: Callable[..., Any] = names["kernel"]
    return kernel
