"""Printer and parser: the text of a kernel gives the same kernel back, and wrong text an error."""

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cubepy.errors import ParseError
from cubepy.ir import (
    F32,
    F64,
    Kernel,
    Op,
    Region,
    freeze_attrs,
    ops,
    parse_kernel,
    print_kernel,
    verify,
)
from cubepy.location import Loc
from tests.unit.ir.random_kernels import Sample, kernels


def alike(a: Region, b: Region, values: dict[Op, Op]) -> None:
    """The same ops in the same order; `values` maps ops of `a` to their twins."""
    assert len(a.ops) == len(b.ops)
    assert len(a.params) == len(b.params)
    values.update(zip(a.params, b.params, strict=True))
    for one, other in zip(a.ops, b.ops, strict=True):
        assert one.opdef is other.opdef
        assert one.type == other.type
        assert one.name == other.name
        assert [values[operand] for operand in one.operands] == list(other.operands)
        assert {k: repr(v) for k, v in one.attrs.items()} == {
            k: repr(v) for k, v in other.attrs.items()
        }
        for left, right in zip(one.regions, other.regions, strict=True):
            alike(left, right, values)
        values[one] = other


@settings(max_examples=60)
@given(kernels())
def test_a_parsed_kernel_is_the_printed_one(sample: Sample) -> None:
    kernel = sample.kernel
    verify(kernel)
    text = print_kernel(kernel)
    again = parse_kernel(text)
    verify(again)
    assert print_kernel(again) == text
    assert (again.name, again.cube_dim) == (kernel.name, kernel.cube_dim)
    alike(kernel.body, again.body, dict(zip(kernel.params, again.params, strict=True)))
    for one, other in zip(kernel.functions, again.functions, strict=True):
        assert (one.name, one.result) == (other.name, other.result)
        alike(one.body, other.body, dict(zip(one.params, other.params, strict=True)))


def of_constant(value: float) -> Kernel:
    attrs = freeze_attrs({"type": F64, "value": value})
    op = Op(opdef=ops.CONST, type=F64, attrs=attrs)
    return Kernel(name="k", params=(), body=Region(ops=(op,)))


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


@given(st.integers(0, 2**64 - 1))
def test_every_float_keeps_its_bits(pattern: int) -> None:
    value = struct.unpack("<d", struct.pack("<Q", pattern))[0]
    again = parse_kernel(print_kernel(of_constant(value))).body.ops[0].attrs["value"]
    assert isinstance(again, float)
    assert bits(again) == bits(value)


@pytest.mark.parametrize("value", [0.0, -0.0, math.inf, -math.inf, math.nan, 1e300, 5e-324])
def test_special_floats_keep_their_bits(value: float) -> None:
    again = parse_kernel(print_kernel(of_constant(value))).body.ops[0].attrs["value"]
    assert isinstance(again, float)
    assert bits(again) == bits(value)


def test_locations_and_their_chains_are_read_back() -> None:
    call = Loc(file="a b.py", line=3, column=4, end_line=3, end_column=9, function="k")
    inside = Loc(file='q"\\.py', line=1, function="helper", inlined_at=call)
    attrs = freeze_attrs({"type": F32, "value": 1.0})
    made = [Op(opdef=ops.CONST, type=F32, attrs=attrs, loc=loc) for loc in (inside, call, inside)]
    kernel = Kernel(name="k", params=(), body=Region(ops=tuple(made)), loc=call)
    text = print_kernel(kernel, locations=True)
    again = parse_kernel(text)
    assert [op.loc for op in again.body.ops] == [inside, call, inside]
    assert again.loc == call
    assert print_kernel(again, locations=True) == text
    assert "!" not in print_kernel(kernel)


def test_names_that_are_no_symbols_are_quoted() -> None:
    kernel = Kernel(name="<lambda>", params=(), body=Region(), options={"note": "a b"})
    again = parse_kernel(print_kernel(kernel))
    assert again.name == "<lambda>"
    assert dict(again.options) == {"note": "a b"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("frobnicate", "line 2, column 1: no op frobnicate"),
        ("%0: f99 = const 1", "line 2, column 5: no type f99"),
        ("%0: f32 = neg %1", "line 2, column 11: %1 is not defined before this op"),
        ("%0: f32 = const 1.0\n%0: f32 = const 1.0", "line 3, column 1: %0 is defined twice"),
        ("%0 f32", "line 2, column 1: unexpected text"),
        ("store_local !7", "line 2, column 1: no line tells what !7 is"),
    ],
)
def test_wrong_text_is_refused_with_its_place(body: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_kernel("kernel @k() cube_dim(1, 1, 1) {\n" + body + "\n}")
    assert message in str(caught.value)
