"""Launching `@cube` functions: arguments, captured names, devices, caches."""

import gc
import threading
import types
import weakref
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, compiler, f32, f64, i32, runtime
from cubepy.errors import (
    ArgumentError,
    CubeError,
    LaunchError,
    OutOfBoundsError,
    RuntimeUnavailable,
)

DEVICES = ["reference", "cpu"]
SCALE = 3
TWO = i32(2)
settings = types.ModuleType("settings")
settings.OFFSET = 10  # type: ignore[attr-defined]


@cb.cube
def saxpy(a: f32, x: Array[f32], y: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(y):
        y[i] = a * x[i] + y[i]


@cb.cube
def scaled(out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = SCALE * 2 + settings.OFFSET


def bump(v: Any) -> Any:
    return v + 1


@cb.cube
def bumped(out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = bump(out[i])


@cb.cube
def fill(out: Tensor[f32], value: Comptime[object], *, step: i32 = TWO) -> None:
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = f32(value) + f32(step)  # type: ignore[arg-type]


@cb.cube
def positions(out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = i32(i) + 1


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of kernels compiled while the test runs."""
    seen: list[str] = []
    finish = compiler.finish

    def counting(kernel: Any, *arguments: Any, **keywords: Any) -> Any:
        seen.append(kernel.name)
        return finish(kernel, *arguments, **keywords)

    monkeypatch.setattr(compiler, "finish", counting)
    compiler.loaded.clear()
    return seen


def ones(count: int = 8) -> Any:
    return np.ones(count, np.float32)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [1, 7, 64, 300, 5000])
def test_saxpy(device: str, count: int) -> None:
    random = np.random.default_rng(count)
    x, y = random.normal(size=(2, count)).astype(np.float32)
    expected = np.float32(2.5) * x + y
    saxpy.over(count, device=device)(2.5, x, y)
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_of_any_layout(device: str) -> None:
    whole = np.arange(40, dtype=np.float32)
    x, y = whole[::-2], np.arange(60, dtype=np.float32)[5::2][:20]
    expected = 2 * x + y
    saxpy.over(20, device=device)(2, x, y)
    assert np.array_equal(y, expected)
    repeated = np.broadcast_to(np.float32(7), 20)
    saxpy.over(20, device=device)(1.0, repeated, y)
    assert np.array_equal(y, expected + 7)


@pytest.mark.parametrize("device", DEVICES)
def test_overlapping_arguments_see_their_own_writes(device: str) -> None:
    x = np.arange(64, dtype=np.float32)
    saxpy.over(64, device=device)(2.0, x, x)
    assert np.array_equal(x, 3 * np.arange(64, dtype=np.float32))


def test_equal_facts_share_a_kernel_and_other_facts_do_not(compilations: list[str]) -> None:
    wide = saxpy.over(10, device="reference", check="validate")
    wide(1.0, ones(10), ones(10))
    assert compilations == ["saxpy"]
    wide(np.float64(2), ones(10), ones(10))
    saxpy.over(20, device="reference", check="validate")(3, ones(20), ones(20))
    assert compilations == ["saxpy"]
    wide(1.0, ones(20)[::2], ones(10))
    assert compilations == ["saxpy"] * 2
    same = ones(10)
    wide(1.0, same, same)
    assert compilations == ["saxpy"] * 3
    saxpy.over(10, device="reference")(1.0, ones(10), ones(10))
    assert len(compilations) <= 4  # compiled by an earlier test, perhaps


def test_a_changed_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(4, np.int32)
    launch = scaled.over(4, device="reference")
    launch(out)
    assert set(out) == {16}
    monkeypatch.setitem(globals(), "SCALE", 5)
    launch(out)
    assert set(out) == {20}
    monkeypatch.setattr(settings, "OFFSET", 100)
    launch(out)
    assert set(out) == {110}
    monkeypatch.undo()
    launch(out)
    assert set(out) == {16}


def test_a_redefined_helper_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(v: Any) -> Any:
        return v * 10

    out = np.ones(4, np.int32)
    launch = bumped.over(4, device="reference")
    launch(out)
    assert set(out) == {2}
    monkeypatch.setitem(globals(), "bump", other)
    launch(out)
    assert set(out) == {20}


def test_a_captured_variable_is_seen() -> None:
    amount = 1

    @cb.cube
    def add(out: Array[i32]) -> None:
        out[cb.ABSOLUTE_POS] += amount

    out = np.zeros(4, np.int32)
    launch = add.over(4, device="reference")
    launch(out)
    amount = 20
    launch(out)
    assert set(out) == {21}


def test_equal_values_after_a_change_need_no_new_kernel(compilations: list[str]) -> None:
    amount = 10**20 // 10**15

    @cb.cube
    def add_amount(out: Array[i32]) -> None:
        out[cb.ABSOLUTE_POS] += amount

    out = np.zeros(4, np.int32)
    launch = add_amount.over(4, device="reference")
    launch(out)
    amount = 10**21 // 10**16
    launch(out)
    assert compilations == ["add_amount"]
    assert set(out) == {200_000}


@pytest.mark.parametrize("value", [1, True, 1.0, -0.0, 0.0, float("nan")])
def test_comptime_values_count_by_type_and_bits(value: Any, compilations: list[str]) -> None:
    out = np.zeros((2, 3), np.float32)
    for _ in range(2):
        fill.over((2, 3), device="reference", check="validate")(out, value)
    assert compilations == ["fill"]
    assert np.array_equal(out, np.full((2, 3), np.float32(value) + 2), equal_nan=True)


def test_defaults_and_keywords() -> None:
    out = np.zeros((3, 5), np.float32)
    launch = fill.over((3, 5), device="reference")
    launch(out, 1)
    assert set(out.flat) == {3}
    launch(value=1, out=out, step=7)
    assert set(out.flat) == {8}
    with pytest.raises(ArgumentError, match="3 arguments given, 2 expected"):
        launch(out, 1, 7)


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((1.0, ones()), {}, "saxpy: argument 'y' is missing"),
        ((1.0, ones(), ones(), 3), {}, "saxpy: 4 arguments given, 3 expected"),
        ((1.0, ones()), {"z": 3}, "there is no parameter 'z'"),
        ((1.0, ones(), ones()), {"z": 3}, "there is no parameter 'z'"),
        ((1.0, ones(), ones()), {"a": 3}, "argument 'a' is given twice"),
        ((1.0, ones(), np.ones(8)), {}, "saxpy: argument 'y': expected an array of f32, got f64"),
        ((1.0, ones().reshape(2, 4), ones()), {}, "argument 'x': expected an array with 1 axis"),
        ((1.0, ones()[0], ones()), {}, "argument 'x': expected an array"),
        ((1.0, [1.0], ones()), {}, "argument 'x': expected an array, got list"),
        (
            (1.0, ones().astype(">f4"), ones()),
            {},
            "argument 'x' has the byte order of another machine.*>f4",
        ),
        ((1.0, np.ones(8, complex), ones()), {}, "argument 'x'.*complex128"),
        (("1", ones(), ones()), {}, "argument 'a': expected f32, got str"),
        ((1e300, ones(), ones()), {}, "argument 'a': 1e\\+300 is too large for f32"),
        ((ones(), ones(), ones()), {}, "argument 'a': expected f32, got an array"),
        ((None, ones(), ones()), {}, "argument 'a': expected f32, got NoneType"),
    ],
)
@pytest.mark.parametrize("device", DEVICES)
def test_wrong_arguments_are_refused_by_name(
    device: str, arguments: tuple[Any, ...], keywords: dict[str, Any], message: str
) -> None:
    for _ in range(2):
        with pytest.raises(ArgumentError, match=message):
            saxpy.over(8, device=device)(*arguments, **keywords)


@pytest.mark.parametrize("device", DEVICES)
def test_outputs_that_must_not_be_written_are_refused(device: str) -> None:
    frozen = ones()
    frozen.flags.writeable = False
    launch = saxpy.over(8, device=device)
    launch(1.0, frozen, ones())
    for _ in range(2):
        with pytest.raises(ArgumentError, match=r"'y' is written .* read-only"):
            launch(1.0, ones(), frozen)
    repeated = np.lib.stride_tricks.as_strided(ones(), (8,), (0,))
    with pytest.raises(ArgumentError, match=r"'y' is written .* stride 0"):
        launch(1.0, ones(), repeated)
    launch(1.0, repeated, ones())


@pytest.mark.parametrize("device", DEVICES)
def test_exact_counts_and_shapes(device: str) -> None:
    out = np.zeros(100, np.int32)
    positions.launcher(3, 8, device)(out)
    assert out.tolist() == [*range(1, 25), *[0] * 76]
    out[:] = 0
    positions.over(37, device=device)(out)
    assert out.tolist() == [*range(1, 38), *[0] * 63]
    out[:] = 0
    positions.launch(out, cube_count=(2, 1), cube_dim=(cb.PLANE, 2), device=device)
    plane = cb.device(device).target.features.plane_dim
    assert np.count_nonzero(out) == min(100, 4 * plane)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [0, (0, 3), (3, 0), (2, 0, 2)])
def test_launches_over_nothing_do_nothing(device: str, shape: Any) -> None:
    out = np.zeros(4, np.int32)
    for _ in range(2):
        positions.over(shape, device=device)(out)
    positions.launch(out, cube_count=(3, 0), cube_dim=4, device=device)
    positions.over(5, device=device)(out[:0])
    assert not out.any()


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (lambda: saxpy.over(-1), "negative"),
        (lambda: saxpy.over((1, 2, 3, 4)), "one to three"),
        (
            lambda: saxpy.over(2.5),  # type: ignore[arg-type]
            "whole number",
        ),
        (lambda: saxpy[1], "expects a cube count and a cube dim"),
        (lambda: saxpy[1, 2, 3], "expects a cube count and a cube dim"),
        (lambda: saxpy[-1, 2], "cube_count.*negative"),
        (lambda: saxpy.over(1, check="maybe"), "expects one of auto, checked"),
        (lambda: saxpy[1, 1 << 20](1.0, ones(), ones()), "units, the device takes at most"),
        (lambda: saxpy[1, 0](1.0, ones(), ones()), "at least one unit"),
        (lambda: saxpy[1, "x"](1.0, ones(), ones()), "cube_dim"),
        (lambda: saxpy(f32(1.0), ones(), ones()), r"launched, not called\n.*saxpy.over\("),
    ],
)
def test_wrong_sizes_are_refused(launch: Any, message: str) -> None:
    with pytest.raises(CubeError, match=message):
        launch()


def test_an_unknown_device_is_named() -> None:
    with pytest.raises(RuntimeUnavailable, match="no runtime 'gpu'"):
        saxpy.over(8, device="gpu")


def test_prepared_launches_take_arguments_of_the_same_types_only() -> None:
    prepared = saxpy.over(8, device="reference").prepare(1.0, ones(), ones())
    y = ones()
    prepared(2.0, ones(), y)
    prepared(a=1.0, x=ones(), y=y)
    assert set(y) == {4}
    for wrong in ((2.0, ones(16)[::2], y), (2, ones(), y), (2.0, y, y)):
        with pytest.raises(ArgumentError, match="prepared for arguments of other types"):
            prepared(*wrong)


@pytest.mark.parametrize("device", DEVICES)
def test_buffers_choose_their_device(device: str) -> None:
    there = cb.device(device)
    x, y = there.array(ones()), there.array(ones())
    saxpy.over(8)(4.0, x, y)
    assert set(y.numpy()) == {5}
    host = ones()
    saxpy.over(8)(4.0, y, host)
    assert set(host) == {21}
    other = "cpu" if device == "reference" else "reference"
    elsewhere = cb.device(other).array(ones())
    saxpy.over(8, device=other)(4.0, elsewhere, host)
    with pytest.raises(LaunchError, match=rf"'x' is on {device}, the launch on {other}"):
        saxpy.over(8, device=other)(4.0, x, host)


def test_a_target_option_is_another_device_with_the_same_memory() -> None:
    y = cb.device("cpu").array(ones(100))
    for name in ("cpu+gang=8", "cpu+gang=64"):
        saxpy.over(100, device=name)(1.0, ones(100), y)
    assert set(y.numpy()) == {3}


def test_misaligned_arrays_are_copied_and_copied_back() -> None:
    y = np.zeros(33, np.uint8)[1:].view(np.float32)
    saxpy.over(8, device="cpu")(2.0, ones(), y)
    assert set(y) == {2}


def test_threads_that_meet_at_a_new_kernel_compile_it_once(compilations: list[str]) -> None:
    @cb.cube
    def fresh(out: Array[f64]) -> None:
        i = cb.ABSOLUTE_POS
        if i < len(out):
            out[i] = f64(i) * 2.0

    outs = [np.zeros(50) for _ in range(8)]
    start = threading.Barrier(len(outs))

    def work(out: Any) -> None:
        start.wait()
        fresh.over(50, device="cpu")(out)

    threads = [threading.Thread(target=work, args=(out,)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compilations == ["fresh"]
    assert all(np.array_equal(out, 2.0 * np.arange(50)) for out in outs)


def test_a_failed_compilation_leaves_the_kernel_usable() -> None:
    @cb.cube
    def picky(out: Array[i32], kind: Comptime[str]) -> None:
        if kind == "good":
            out[cb.ABSOLUTE_POS] = 1
        else:
            out[cb.ABSOLUTE_POS] = "bad"  # type: ignore[assignment]

    out = np.zeros(3, np.int32)
    launch = picky.over(3, device="reference")
    for _ in range(2):
        with pytest.raises(CubeError):
            launch(out, "bad")
        launch(out, "good")
    assert set(out) == {1}


def test_inspect_shows_every_stage() -> None:
    stages = saxpy.inspect(2.0, ones(), ones(), target="cpu:x86-64-v3")
    assert "kernel @saxpy" in stages.ir
    assert "kernel @saxpy" in stages.optimized_ir
    assert "define" in stages.llvm
    assert "cubepy_saxpy:" in stages.asm
    assert "%ymm" in stages.asm
    assert saxpy.over((4, 4)).inspect(2.0, ones(), ones(), target="reference").text.count("extent")


def test_decorator_options_reach_the_kernel() -> None:
    @cb.cube(contract=True, fast_math=["nnan", "arcp"])
    def plain(out: Array[f32]) -> None:
        out[cb.ABSOLUTE_POS] = 1.0

    assert 'fast_math="arcp,nnan"' in plain.inspect(ones(), target="reference").ir
    with pytest.raises(CubeError, match="no fast_math flag 'fast'"):
        cb.cube(fast_math=["fast"])


def test_the_default_device_can_be_changed() -> None:
    before = cb.default_device()
    try:
        cb.set_default_device("reference")
        y = ones()
        saxpy.over(8)(1.0, ones(), y)
        assert set(y) == {2}
        assert runtime.default_device().name == "reference"
    finally:
        cb.set_default_device(before)


def test_a_kernel_that_is_not_used_any_more_is_freed() -> None:
    def define(amount: int) -> Any:
        @cb.cube
        def short_lived(out: Array[i32]) -> None:
            out[cb.ABSOLUTE_POS] += amount

        return short_lived

    out = np.zeros(4, np.int32)
    kernels = [define(number) for number in range(3)]
    for kernel in kernels:
        kernel.over(4, device="cpu")(out)
    assert set(out) == {3}
    alive = [weakref.ref(kernel.function) for kernel in kernels]
    del kernel, kernels
    gc.collect()
    assert [reference() for reference in alive] == [None] * 3


@cb.cube
def shifted(x: Tensor[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[1, i + 2]


@pytest.mark.parametrize("device", DEVICES)
def test_checks_mean_what_they_say(device: str) -> None:
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    out = np.full(6, -1, np.float32)
    shifted.over(6, device=device)(x, out)
    assert out.tolist() == [8, 9, 10, 11, 0, 0]
    launch = shifted.over(6, device=device, check="validate")
    with pytest.raises(OutOfBoundsError, match=r"test_launch.py:\d+.*\b6\b") as caught:
        launch(x, out)
    assert "out[i] = x[1, i + 2]" in str(caught.value)
    shifted.over(4, device=device, check="unchecked")(x, out)
    assert out.tolist()[:4] == [8, 9, 10, 11]
    buffer = cb.device(device).array(x)
    launch = shifted.over(3, device=device, check="validate")
    launch(buffer, out)
    assert out.tolist()[:3] == [8, 9, 10]


@cb.cube
def polar(x: f32, y: f32) -> Any:
    r = cb.sqrt(x * x + y * y)
    if r == 0.0:
        return r, 0.0
    return r, y / r


@cb.cube
def grown(count: Any, by: Any = 3) -> Any:
    return count * SCALE + by


def test_helpers_can_be_called_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert polar(3, 4.0) == (5.0, np.float32(0.8))
    assert polar(np.float64(0), y=0) == (0.0, 0.0)
    assert type(polar(3, 4)[0]) is np.float32
    assert (grown(2), type(grown(2))) == (9, np.int64)
    assert grown(by=np.int8(1), count=np.int8(50)) == np.int8(50 * 3 + 1 - 256)
    monkeypatch.setitem(globals(), "SCALE", 5)
    assert grown(2) == 13
    with pytest.raises(ArgumentError, match="polar: argument 'y' is missing"):
        polar(3)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match=r"grown: argument 'count'.*numbers, got str"):
        grown("2")
    with pytest.raises(ArgumentError, match=r"polar: argument 'x': 1e.300 is too large for f32"):
        polar(1e300, 0.0)
