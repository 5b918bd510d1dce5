"""The cheap key of a launch never says "the same" where a specialisation would differ."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubepy.runtime import alias_classes, facts_of, launch_key, span_of
from tests.unit.runtime.fake import FakeDevice

WHOLE = {name: np.zeros((6, 8), name) for name in ("f4", "f8", "i4")}
FROZEN = WHOLE["f4"].copy()
FROZEN.flags.writeable = False
MISALIGNED = np.zeros(97, np.uint8)[1:].view("f4").reshape(4, 6)


def by_repr(value: Any) -> Any:
    return (type(value), repr(value))


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    base = draw(st.sampled_from([*WHOLE.values(), FROZEN, MISALIGNED]))
    steps = st.sampled_from([None, -1, 2])
    low, high = st.integers(0, 3), st.integers(2, 6)
    rows, columns = (slice(draw(low), draw(high), draw(steps)) for _ in range(2))
    view = base[rows, columns]
    view = view.T if draw(st.booleans()) else view
    return view[0] if len(view) and draw(st.booleans()) else view


numbers = st.sampled_from([1, 2, 1.0, True, np.float32(1), np.float64(1), np.int64(1)])
launches = st.lists(arrays() | numbers, min_size=1, max_size=3)


def specialisation(values: list[Any]) -> Any:
    """What a kernel may depend on, worked out the long way."""
    seen = [value for value in values if isinstance(value, np.ndarray) and value.ndim]
    return (
        [
            facts_of(value) if isinstance(value, np.ndarray) and value.ndim else type(value)
            for value in values
        ],
        alias_classes([span_of(value) for value in seen]),
    )


@given(launches, launches)
def test_equal_keys_mean_equal_specialisations(first: list[Any], second: list[Any]) -> None:
    keys = [launch_key(values, [False] * len(values), by_repr) for values in (first, second)]
    if keys[0] == keys[1]:
        assert specialisation(first) == specialisation(second)


@given(launches)
def test_the_same_facts_at_other_addresses_have_the_same_key(values: list[Any]) -> None:
    again = list(values)
    for number, value in enumerate(values):
        if isinstance(value, np.ndarray) and value.flags.c_contiguous and value.flags.aligned:
            again[number] = value.copy()
            again[number].flags.writeable = value.flags.writeable
    if specialisation(values) == specialisation(again):
        known = [False] * len(values)
        assert launch_key(values, known, by_repr) == launch_key(again, known, by_repr)


@pytest.mark.parametrize("other", [True, 1.0, np.int64(1), 2, "1", None])
def test_comptime_values_and_objects_are_keyed_by_value(other: Any) -> None:
    assert launch_key([1], [True], by_repr) != launch_key([other], [True], by_repr)
    assert launch_key([1], [True], by_repr) == launch_key([1], [True], by_repr)
    assert launch_key(["a"], [False], by_repr) != launch_key(["b"], [False], by_repr)


def test_run_time_numbers_are_keyed_by_type_only() -> None:
    assert launch_key([1, 2.0], [False] * 2, by_repr) == launch_key([7, 9.5], [False] * 2, by_repr)


def test_buffers_are_keyed_by_their_device() -> None:
    here, there = FakeDevice(host_memory=False), FakeDevice(host_memory=False)
    first, second, third = here.empty(4), here.empty(9), there.empty(4)
    known = [False]
    assert launch_key([first], known, by_repr) == launch_key([second], known, by_repr)
    assert launch_key([first], known, by_repr) != launch_key([third], known, by_repr)
    same = launch_key([first, first], [False] * 2, by_repr)
    assert same != launch_key([first, second], [False] * 2, by_repr)
