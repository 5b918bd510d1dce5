"""What a launch sees of its arguments, against NumPy's own view of memory."""

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cubepy as cb
from cubepy.errors import ArgumentError
from cubepy.ir import StrideClass
from cubepy.runtime import (
    address_of,
    alias_classes,
    array_of,
    facts_of,
    is_writable,
    span_of,
    stride_classes,
)

ZERO, ONE, MINUS, OTHER = (
    StrideClass.ZERO,
    StrideClass.ONE,
    StrideClass.MINUS_ONE,
    StrideClass.OTHER,
)
Array = np.ndarray[Any, Any]


def slices() -> st.SearchStrategy[slice]:
    bound = st.none() | st.integers(-9, 9)
    return st.builds(slice, bound, bound, st.integers(-3, 3).filter(bool))


@given(st.lists(st.tuples(slices(), slices()), min_size=2, max_size=4))
def test_overlap_is_numpys_bounds_check(cuts: list[tuple[slice, slice]]) -> None:
    whole = np.zeros((7, 9), np.int32)
    views = [whole[cut] for cut in cuts]
    classes = alias_classes([span_of(view) for view in views])
    for first, second in itertools.combinations(range(len(views)), 2):
        if np.may_share_memory(views[first], views[second]):
            assert classes[first] == classes[second]
    distinct = len({view.__array_interface__["data"][0] for view in views if view.size})
    assert len(set(classes)) >= (1 if distinct else len(views))


@given(slices(), slices())
def test_spans_are_numpys_byte_bounds(rows: slice, columns: slice) -> None:
    view = np.zeros((7, 9), np.float64)[rows, columns]
    _, low, high = span_of(view)
    if view.size:
        assert (low, high) == np.lib.array_utils.byte_bounds(view)
    assert address_of(view) == view.__array_interface__["data"][0]


def test_overlap_joins_through_a_third_array() -> None:
    whole = np.zeros(100, np.float32)
    spans = [span_of(whole[:40]), span_of(whole[60:]), span_of(whole[30:70])]
    assert len(set(alias_classes(spans))) == 1
    assert alias_classes(spans[:2]) == (0, 1)


def test_empty_arrays_overlap_nothing() -> None:
    whole = np.zeros(10)
    assert alias_classes([span_of(whole), span_of(whole[3:3]), span_of(whole[3:3])]) == (0, 1, 2)


@pytest.mark.parametrize(
    ("array", "classes"),
    [
        (np.zeros(5), (ONE,)),
        (np.zeros(5)[::-1], (MINUS,)),
        (np.zeros(9)[::2], (OTHER,)),
        (np.broadcast_to(np.zeros(1), 5), (ZERO,)),
        (np.zeros((3, 4)), (OTHER, ONE)),
        (np.zeros((3, 4)).T, (ONE, OTHER)),
        (np.zeros((3, 4), order="F"), (ONE, OTHER)),
        (np.zeros((2, 3, 4))[:, ::-1, ::-1], (OTHER, OTHER, MINUS)),
        (np.broadcast_to(np.zeros(4), (3, 4)), (ZERO, ONE)),
    ],
)
def test_stride_classes(array: Array, classes: tuple[StrideClass, ...]) -> None:
    assert facts_of(array).classes == classes


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((6, 1)),
        np.zeros((6, 5))[:, :1],
        np.zeros((1, 5))[::-1],
        np.zeros((0, 5)),
        np.broadcast_to(np.zeros((1, 1)), (1, 1)),
        np.zeros((4, 4))[2:3, 1:2],
    ],
)
def test_axes_of_one_element_make_no_specialisation_of_their_own(array: Array) -> None:
    assert facts_of(array).classes == facts_of(np.zeros((6, 7))).classes


def test_example_strides_have_the_classes() -> None:
    for array in (np.zeros((3, 4)).T, np.zeros(9)[::-2], np.broadcast_to(np.zeros(4), (3, 4))):
        facts = facts_of(array)
        assert stride_classes(facts.shape, facts.strides, 8) == facts.classes


def test_facts_tell_what_a_launch_must_check() -> None:
    assert not facts_of(np.broadcast_to(np.zeros(1), 5)).writable
    record = np.zeros(4, np.dtype([("a", "u1"), ("b", "<f4")]))
    assert facts_of(record["b"]).staged
    misaligned = np.zeros(41, np.uint8)[1:].view(np.float32)
    assert facts_of(misaligned).staged
    assert not facts_of(np.zeros(4, ml_dtypes.bfloat16)).staged
    assert facts_of(np.zeros(4, np.float32)) == facts_of(np.ones(9, np.float32))
    assert facts_of(np.zeros(4, np.float32)) != facts_of(np.zeros(4, np.int32))


def test_what_is_no_array_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match=r"k: argument 'x': expected an array, got list"):
        array_of([1, 2], "k: argument 'x'")
    with pytest.raises(ArgumentError, match="masked array"):
        array_of(np.ma.zeros(3), "k: argument 'x'")


def test_objects_with_the_array_interface_share_their_memory() -> None:
    class Holder:
        def __init__(self, array: Array) -> None:
            self.__array_interface__ = array.__array_interface__
            self.kept = array

    source = np.arange(5)
    seen = array_of(Holder(source), "x")
    assert isinstance(seen, np.ndarray)
    assert np.shares_memory(seen, source)


def test_arrays_from_broadcast_arrays_are_read_without_a_warning() -> None:
    """NumPy warns whoever asks whether they can be written; here a warning is an error."""
    row = np.arange(3.0)
    column, wide = np.broadcast_arrays(row[:, None], row)
    for array in (column, wide):
        assert facts_of(array).writable
    frozen = np.broadcast_to(row, (3, 3))
    assert not is_writable(frozen)
    for array in (row, row[::-2], np.empty(0), np.empty((2, 0))):
        assert is_writable(array) == array.flags.writeable
        array.flags.writeable = False
        assert not is_writable(array)


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_arrays_from_broadcast_arrays_in_a_launch(device: str) -> None:
    row = np.arange(3, dtype=np.float32)
    column, wide = np.broadcast_arrays(row[:, None], row)
    out = np.zeros((3, 3), np.float32)
    for _ in range(3):
        _product.over(out.shape, device=device)(column, wide, out)
    np.testing.assert_array_equal(out, np.outer(row, row))


@cb.cube
def _product(a: cb.Tensor[cb.f32], b: cb.Tensor[cb.f32], out: cb.Tensor[cb.f32]) -> None:
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    out[y, x] = a[y, x] * b[y, x]
