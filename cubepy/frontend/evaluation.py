"""What Python itself computes while a kernel is compiled, and what it must not be asked to.

A slip such as `10**10**10` or `sum(range(10**12))` would run or fill memory without end, out of
reach of Ctrl-C; whatever grows without bound is looked at before it begins.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any

from cubepy.errors import ComptimeError
from cubepy.frontend.frame import Frame
from cubepy.frontend.python_reads import watch_python
from cubepy.frontend.values import Known

__all__ = ["asks_python", "bounded_range", "evaluate_in_python", "python_items"]

_MOST_BITS = 1 << 16  # of a number, and elements of a sequence that an operator makes
_MOST_ITEMS = 1 << 22  # that a function of Python runs over
_GROWING = (operator.pow, builtins.pow, operator.lshift, operator.mul)
_COUNTED_AT_ONCE = (builtins.len, builtins.repr, builtins.hash, builtins.id, builtins.isinstance)
# What gives the same in every process, of numbers, texts and tuples of these.
_REPEATABLE = frozenset(
    {
        *(value for value in vars(operator).values() if callable(value)),
        *(value for value in vars(math).values() if callable(value)),
        *(abs, bool, divmod, float, int, len, max, min, pow, range, round, sum, tuple),
    }
)
_IN_PYTHON = "Python computes this while the kernel is compiled: see that it can"
_BY_ZERO = "between literals Python computes; integers of a kernel give 0: i32(a) // b, i32(a) % b"


def evaluate_in_python(
    frame: Frame, function: Callable[..., Any], at: ast.AST, *values: Any, reads: Sequence[Any] = ()
) -> Known:
    """What Python itself computes from values known while compiling.

    `reads`: code, and values it has names for, where the function cannot tell.
    """
    if _is_huge(function, values):
        raise frame.error(
            ComptimeError, f"this has more than {_MOST_BITS:,} bits or elements", at,
            "compute it at run time: convert one side, for example i64(…)",
        )  # fmt: skip
    if _is_long(function, values):
        raise frame.error(
            ComptimeError, f"Python would run over more than {_MOST_ITEMS:,} elements here", at,
            "write the loop in the kernel",
        )  # fmt: skip
    if function not in _REPEATABLE:
        frame.session.repeatable = False
        watch_python(frame, (function, *reads, *values), at)
    asks_python(frame, at, *values)
    try:
        return Known(function(*values))
    except Exception as error:
        reason = str(error) or "Python gives no reason"
        raise frame.error(
            ComptimeError, f"{type(error).__name__} while compiling: {reason}", at,
            _BY_ZERO if isinstance(error, ZeroDivisionError) else _IN_PYTHON,
        ) from error  # fmt: skip


def asks_python(frame: Frame, at: ast.AST, *values: Any) -> None:
    """Note that methods of these values run; those of users' classes may do anything."""
    if not all(map(_is_plain, values)):
        frame.session.repeatable = False
        watch_python(frame, values, at)


def bounded_range(*numbers: Any) -> range:
    """`range` for the comprehensions of a kernel."""
    made = range(*numbers)
    if made[_MOST_ITEMS:]:
        raise ValueError(f"a range of more than {_MOST_ITEMS:,} elements")
    return made


def python_items(frame: Frame, sequence: Iterable[Any], at: ast.AST) -> list[Any]:
    """The elements of something Python can run over."""
    asks_python(frame, at, sequence)
    items = list(itertools.islice(sequence, _MOST_BITS + 1))
    if len(items) > _MOST_BITS:
        raise frame.error(
            ComptimeError, f"this has more than {_MOST_BITS:,} elements", at,
            "write the loop in the kernel",
        )  # fmt: skip
    return items


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return type(value) in (bool, int, float, str, bytes, range, type(None))


def _is_huge(function: Callable[..., Any], values: tuple[Any, ...]) -> bool:
    """Whether a result would have too many bits or elements to make it."""
    if function is math.factorial:
        return isinstance(values[0], int) and values[0] > _MOST_BITS // 8
    if function not in _GROWING or len(values) != 2:
        return False
    left, right = values
    if function is operator.mul and (isinstance(left, Sized) or isinstance(right, Sized)):
        items, times = (left, right) if isinstance(left, Sized) else (right, left)
        return isinstance(times, int) and len(items) * times > _MOST_BITS
    if not isinstance(left, int) or not isinstance(right, int):
        return False
    if function is operator.mul:
        return left.bit_length() + right.bit_length() > _MOST_BITS
    if function is operator.lshift:
        return left != 0 and right > _MOST_BITS
    return abs(left) > 1 and right * left.bit_length() > _MOST_BITS


def _is_long(function: Callable[..., Any], values: tuple[Any, ...]) -> bool:
    """Whether a function of Python might run over elements that nobody has made yet."""
    if function in _COUNTED_AT_ONCE or function is range or hasattr(function, "__code__"):
        return False
    return any(_length(value) > _MOST_ITEMS for value in values)


def _length(value: Any) -> int:
    if not isinstance(value, range | Iterator):
        return 0
    try:
        return operator.length_hint(value)
    except OverflowError:
        return _MOST_ITEMS + 1
