"""Names from outside a kernel: read when it is specialised, part of what it is by type and bits."""

import dataclasses
import enum
import math
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32, frontend, i8, i32
from cubepy.errors import ArgumentError, ComptimeError

SETTING: Any = 1
settings = types.ModuleType("settings")
settings.FACTOR = 2.0  # type: ignore[attr-defined]


class Level(enum.IntEnum):
    LOW = 3
    HIGH = 1 << 40


@dataclasses.dataclass(frozen=True)
class Shape:
    taps: int
    scale: float = 0.5

    def scaled(self, value: Any) -> Any:
        return value * self.scale

    @property
    def doubled(self) -> int:
        return 2 * self.taps


SHAPE = Shape(3)


def helper(value: Any) -> Any:
    return value * SETTING


@cb.cube
def uses_names(x: Array[f32]) -> None:
    x[0] = x[1] * SETTING
    x[2] = x[1] * settings.FACTOR
    x[3] = helper(x[1])


def run(kernel: Any, x: Any, *rest: Any) -> Any:
    kernel.over(1, device="reference")(x, *rest)
    return x


def test_a_changed_name_is_seen_by_the_next_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    start = np.array([0, 3, 0, 0], np.float32)
    assert run(uses_names, start.copy()).tolist() == [3, 3, 6, 3]
    monkeypatch.setitem(globals(), "SETTING", 5)
    assert run(uses_names, start.copy()).tolist() == [15, 3, 6, 15]
    monkeypatch.setattr(settings, "FACTOR", 10.0)
    assert run(uses_names, start.copy()).tolist() == [15, 3, 30, 15]

    def other(value: Any) -> Any:
        return value + 100.0

    monkeypatch.setitem(globals(), "helper", other)
    assert run(uses_names, start.copy()).tolist() == [15, 3, 30, 103]


def specialization(value: Any, kernel: Any = None) -> frontend.Specialization:
    def reads(x: Array[f32]) -> None:
        x[0] = value

    source = frontend.capture(reads)
    return frontend.specialize(source, {"x": np.zeros(1, np.float32)}, frontend.LaunchOptions())


@pytest.mark.parametrize(
    "values",
    [
        (1, True, 1.0, np.float32(1), "1", (1,), b"1"),
        (0.0, -0.0, math.nan, 0, False, None),
        (Shape(1), Shape(2), Shape(1, 0.25), (1, 0.5)),
        ((1, 2.0), (1.0, 2), (True, 2.0)),
    ],
)
def test_values_that_differ_in_type_or_bits_are_different_kernels(values: tuple[Any, ...]) -> None:
    keys = [specialization(value) for value in values]
    assert len(set(keys)) == len(values)
    again = [specialization(value) for value in values]
    assert keys == again
    assert [hash(key) for key in keys] == [hash(key) for key in again]


def test_nan_is_equal_to_itself_and_payloads_differ() -> None:
    assert specialization(math.nan) == specialization(float("nan"))
    assert specialization(math.nan) != specialization(-math.nan)


def test_redefining_the_same_kernel_gives_an_equal_specialization() -> None:
    def factory(step: float) -> Any:
        def inner(value: Any) -> Any:
            return value + step

        def kernel(x: Array[f32]) -> None:
            x[0] = inner(x[0])

        return kernel

    def made(step: float) -> frontend.Specialization:
        source = frontend.capture(factory(step))
        return frontend.specialize(source, {"x": np.zeros(1, np.float32)}, frontend.LaunchOptions())

    assert made(1.0) == made(1.0)
    assert made(1.0) != made(2.0)


@cb.cube
def uses_objects(x: Array[f32], n: Array[i32]) -> None:
    for k in cb.unroll(range(SHAPE.taps)):
        x[k] = SHAPE.scaled(x[k]) + SHAPE.doubled
    n[0] = Level.LOW
    if n[1] == Level.LOW:
        n[2] = 7
    if n[1] < Level.HIGH:
        n[3] = 8


def test_frozen_dataclasses_and_enums_are_constants() -> None:
    x = np.array([1, 2, 3, 4], np.float32)
    n = np.array([0, 3, 0, 0], np.int32)
    uses_objects.over(1, device="reference")(x, n)
    assert x.tolist() == [6.5, 7, 7.5, 4]
    assert n.tolist() == [3, 3, 7, 8]


class Plain:
    def __init__(self) -> None:
        self.scale = 2.0


@dataclasses.dataclass
class Thawed:
    scale: float = 2.0


@pytest.mark.parametrize("value", [[1.0], {"a": 1}, {1}, np.ones(3), Plain(), Thawed()])
def test_what_can_change_is_refused(value: Any) -> None:
    def kernel(x: Array[f32]) -> None:
        x[0] = value.scale

    source = frontend.capture(kernel)
    found = frontend.specialize(source, {"x": np.zeros(1, np.float32)}, frontend.LaunchOptions())
    with pytest.raises(ComptimeError, match="can change after the kernel is compiled"):
        frontend.lower(source, found)


def apply(function: Any, a: Any, b: Any) -> Any:
    return function(a, b)


@cb.cube
def folds(x: Array[f32], out: Array[f32], operation: Comptime[Any], mode: Comptime[str]) -> None:
    total = x[0]
    for k in range(1, len(x)):
        total = apply(operation, total, x[k])
    out[0] = total if mode == "plain" else -total


def test_functions_and_text_are_comptime_arguments() -> None:
    x = np.array([3, 1, 4, 1, 5], np.float32)
    out = np.zeros(1, np.float32)
    folds.over(1, device="reference")(x, out, lambda a, b: a + b, "plain")
    assert out[0] == 14
    folds.over(1, device="reference")(x, out, max, "negated")
    assert out[0] == -5
    bias = 10.0
    folds.over(1, device="reference")(x, out, lambda a, b: a + b + bias, mode="plain")
    assert out[0] == 54
    with pytest.raises(ArgumentError, match="cannot be hashed"):
        folds.over(1, device="reference")(x, out, [1], "plain")


def test_closures_of_one_text_differ_by_what_they_hold() -> None:
    def scaled(by: Any) -> Any:
        return lambda value: value * by

    def of(function: Any) -> Any:
        return lambda value: -function(-value)

    def endless(by: float) -> Any:
        def inner(value: Any) -> Any:
            return value * by if value is not inner else value

        return inner

    @cb.cube
    def kernel(x: Array[f32], function: Comptime[Any]) -> None:
        x[cb.ABSOLUTE_POS] = function(3.0)

    key = frontend.comptime_key
    assert key(scaled(2.0)) == key(scaled(2.0)) != key(scaled(2))
    assert key(endless(2.0)) != key(endless(3.0))
    x = np.zeros(1, np.float32)
    cases = [(scaled(2.0), 6), (scaled(5.0), 15), (of(scaled(4.0)), 12), (of(abs), -3)]
    for device in ("reference", "cpu"):
        for function, wanted in (*cases, *cases):
            kernel.over(1, device=device)(x, function)
            assert x[0] == np.float32(wanted)


def test_a_closure_whose_variable_changes_is_another_kernel() -> None:
    def pair() -> tuple[Any, Any]:
        by = 2.0

        def change(to: float) -> None:
            nonlocal by
            by = to

        return (lambda value: value * by), change

    @cb.cube
    def kernel(x: Array[f32], function: Comptime[Any]) -> None:
        x[cb.ABSOLUTE_POS] = function(3.0)

    x = np.zeros(1, np.float32)
    (first, change), (second, _) = pair(), pair()
    for function, by, wanted in ((first, 2.0, 6), (second, 2.0, 6), (first, 7.0, 21),
                                 (second, 7.0, 6), (first, 2.0, 6)):  # fmt: skip
        change(by)
        kernel.over(1, device="cpu")(x, function)
        assert x[0] == wanted


def by_default(value: Any, by: Any = np.float32(2.5)) -> Any:  # noqa: B008
    return value * by


def narrow_by_default(value: Any, *, by: Any = np.int8(3)) -> Any:  # noqa: B008
    return value * by


class Scaled(NamedTuple):
    by: Any = np.float32(1.5)


@cb.cube
def uses_defaults(x: Array[f32], n: Array[i8]) -> None:
    x[0] = by_default(x[0]) + by_default(2.0)
    x[1] = x[1] * Scaled().by
    n[0] = narrow_by_default(n[0])


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_defaults_that_are_scalars_of_numpy_are_numbers(device: str) -> None:
    x, n = np.array([2, 2], np.float32), np.array([100], np.int8)
    uses_defaults.over(1, device=device)(x, n)
    assert x.tolist() == [10, 3]
    assert n.tolist() == [44]
