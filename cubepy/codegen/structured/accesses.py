"""Where an element lies and whether it is inside, as far as C-like targets say it alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cubepy.codegen.structured.body import Body
from cubepy.codegen.structured.expression import Expression, binary, primary, unary
from cubepy.ir import BufferType, Op, Ranges, StrideClass

__all__ = ["buffer_sizes", "place_at", "tests_of"]

_KNOWN_STRIDES = {StrideClass.ZERO: "0", StrideClass.ONE: "1", StrideClass.MINUS_ONE: "-1"}


def buffer_sizes(
    type: BufferType, name: str, prefix: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the extents and strides of a buffer are called: `name_shape_0`, `name_stride_0`."""
    axes = range(type.rank)
    extents = tuple(f"{prefix}{name}_shape_{axis}" for axis in axes)
    strides = tuple(
        _KNOWN_STRIDES.get(type.strides[axis], f"{prefix}{name}_stride_{axis}") for axis in axes
    )
    return extents, strides


def place_at(
    indices: Iterable[tuple[Expression, str]], start: Sequence[Expression] = ()
) -> Expression:
    """The number of an element from subscripts with their strides, counted on from `start`."""
    terms = [*start, *(_term(index, stride) for index, stride in indices if stride != "0")]
    place = terms[0] if terms else primary("0")
    for term in terms[1:]:
        place = binary("+", place, term)
    return place


def _term(index: Expression, stride: str) -> Expression:
    if stride == "1":
        return index
    return unary("-", index) if stride == "-1" else binary("*", index, primary(stride))


def tests_of(
    body: Body,
    op: Op,
    indices: Sequence[Op],
    ranges: Ranges,
    inside: Callable[[int, Expression], str],
) -> str:
    """The condition of an access being inside, "" if nothing need be tested; `inside(axis, text)`
    writes the test of one subscript.
    """
    if op.attrs.get("check", "checked") == "unchecked":
        return ""
    tests = [
        inside(axis, body.peek(index))
        for axis, index in enumerate(indices)
        if not ranges.is_inside(op, axis)
    ]
    return " & ".join(f"({test})" for test in tests) if len(tests) > 1 else "".join(tests)
