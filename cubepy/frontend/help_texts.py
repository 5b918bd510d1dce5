"""What `help` says of a name that kernels use: how it is called, and what it means.

The meaning is the op's, in its row of the table. Written here is what has no row of its own, or
whose call looks other than the op.
"""

from __future__ import annotations

import textwrap

from cubepy.ir import ops

__all__ = ["call_and_meaning", "help_text"]

_OUTSIDE = (
    "Outside of the array nothing is changed and the result is 0; check='validate' raises, and "
    "check='unchecked' does not test."
)
_POSITIONS = {
    "CUBE_DIM": "Units of a cube, known while compiling.",
    "CUBE_DIM_X": "Units of a cube along x, known while compiling.",
    "CUBE_DIM_Y": "Units of a cube along y, known while compiling.",
    "CUBE_DIM_Z": "Units of a cube along z, known while compiling.",
}
_ATOMIC = {
    "add": "Add to an element as a whole",
    "sub": "Subtract from an element as a whole",
    "min": "Put the smaller of an element and a value in its place",
    "max": "Put the larger of an element and a value in its place",
    "and_": "Put the bitwise and of an element and a value in its place",
    "or_": "Put the bitwise or of an element and a value in its place",
    "xor": "Put the bitwise exclusive or of an element and a value in its place",
    "exchange": "Put a value in the place of an element",
}
_CALLS = {
    "shared": "(dtype, shape)\n\n"
    "Memory of the cube, one array for all its units; the shape is known while compiling. It holds "
    "anything at first: write it, and cb.sync_cube() before another unit reads it.",
    "local_array": "(dtype, shape, fill=None)\n\n"
    "Memory of the unit, an array of its own; the shape is known while compiling. Without `fill` "
    "it holds anything at first. Where all subscripts are known while compiling, its elements are "
    "variables, in registers.",
    "atomic_load": f"(array, *index, order='relaxed')\n\nRead an element as a whole. {_OUTSIDE}",
    "atomic_store": "(array, *index, value, order='relaxed')\n\n"
    f"Write an element as a whole. {_OUTSIDE}",
    "atomic_compare_exchange": "(array, *index, expected, value, order='relaxed')\n\n"
    "Put a value in the place of an element if that is as expected; the result is what was there. "
    f"{_OUTSIDE}",
    "frexp": "(value)\n\nFraction from one half to one and exponent, two results.",
    "ln": "(value)\n\nThe natural logarithm, as cb.log.",
    "recip": "(value)\n\n1 / value, correctly rounded.",
    "clamp": "(value, low, high)\n\nThe value, or the bound that it lies beyond; NaN stays NaN.",
    "cdiv": "(value, by)\n\nThe quotient of integers, rounded up.",
    "vector": "(*elements)\n\nA Vector of numbers of one type: 1, 2, 4 … 64 of them.",
    "insert": "(vector, place, value)\n\nThe vector with another element at a place inside.",
    "comptime": "(expression)\n\nWhat Python makes of an expression while the kernel is compiled.",
    "unroll": "(iterable, when=True)\n\nIn the head of a `for`: the body once for each element, "
    "without a loop. What it goes through is known while compiling.",
    "static_assert": "(condition, message)\n\nEnd the compilation where a condition does not hold.",
    "static_print": "(*values)\n\nPrint while compiling; of run-time values their types.",
    "intrinsic": "(target, template, *operands, fallback=function, constraints='')\n\n"
    "What a processor can do and the language cannot say, in the words of `target`; other targets "
    "run the fallback.",
}


def help_text(name: str) -> str:
    """What `help(cb.<name>)` shows below the name."""
    if name.isupper():
        return _POSITIONS.get(name) or ops.BY_NAME[name.lower()].doc
    call, meaning = call_and_meaning(name)
    return f"{call}\n\n{textwrap.fill(meaning, 76)}\n\nA function of kernels: docs/language.md."


def call_and_meaning(name: str) -> tuple[str, str]:
    """How a function of kernels is called, and what it does, one line each."""
    if name in _CALLS:
        call, _, meaning = _CALLS[name].partition("\n\n")
        return f"cb.{name}{call}", meaning
    change = _ATOMIC.get(name.removeprefix("atomic_"))
    if change is not None and name.startswith("atomic_"):
        call = "(array, *index, value, order='relaxed')"
        return f"cb.{name}{call}", f"{change}; the result is what was there. {_OUTSIDE}"
    row = ops.BY_PYTHON[name]
    operands = [*row.operands, *(["where=True"] if name.startswith("plane_") else [])]
    return f"cb.{name}({', '.join(operands)})", row.doc
