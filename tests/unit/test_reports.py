"""`assert` and `print` in kernels: the same text from both runtimes, whatever the gang and the
threads, and launches that go on working afterwards.
"""

import os
import threading
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Array, Comptime, Tensor, bf16, f16, f32, f64, i8, i32, i64, u8, u64
from cubepy.errors import AssertionFailed, OutOfBoundsError, ReferenceFault
from cubepy.target import reports

DEVICES = ("reference", "cpu", "cpu:x86-64-v3+gang=4", "cpu+gang=16", "cpu+gang=64")


class Point(NamedTuple):
    x: f32
    y: i32


@cb.cube
def all_below(x: Array[f32], limit: f32, out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    assert x[i] < limit, f"{x[i]:.2f} at {i} is not below {limit}"
    out[i] = x[i] + 1.0


@pytest.mark.parametrize("device", DEVICES)
def test_a_failed_assertion_names_unit_and_values(device: str) -> None:
    values = np.zeros(200, np.float32)
    values[77] = 12.25
    out = np.zeros_like(values)
    with pytest.raises(AssertionFailed) as caught:
        all_below.launch(values, 10.0, out, cube_count=8, cube_dim=25, device=device)
    first, shown, _, advice = str(caught.value).splitlines()
    assert advice.startswith("  help: ")
    assert first.partition(": error: ")[2] == (
        "all_below: the assertion does not hold in unit 2 of cube 3: 12.25 at 77 is not below 10.0"
    )
    assert "assert x[i] < limit" in shown
    values[77:] = 12.25
    with pytest.raises(AssertionFailed):
        all_below.over(200, device=device)(values, 10.0, out)
    # the next launch is a launch like any other
    values[77:] = 1
    all_below.over(200, device=device)(values, 10.0, out)
    assert (out == values + 1).all()


@pytest.mark.parametrize("device", DEVICES[:2])
@pytest.mark.parametrize("check", ["checked", "validate", "unchecked", "auto"])
def test_only_unchecked_launches_go_without_assertions(device: str, check: str) -> None:
    values = np.full(40, 11, np.float32)
    out = np.zeros_like(values)
    run = all_below.over(40, device=device, check=check)
    if check == "unchecked":
        run(values, 10.0, out)
        assert (out == 12).all()
    else:
        with pytest.raises(AssertionFailed):
            run(values, 10.0, out)


@cb.cube
def checks_its_setting(out: Array[i32], block: Comptime[int]) -> None:
    if out[cb.ABSOLUTE_POS] > 0:
        assert block % 32 == 0, ("block", block)
    assert block > 0
    cb.sync_cube()
    out[cb.ABSOLUTE_POS] = block


@pytest.mark.parametrize("device", DEVICES[:2])
def test_a_known_assertion_fails_where_it_is_reached(device: str) -> None:
    out = np.zeros(32, np.int32)
    checks_its_setting.launch(out, 33, cube_count=2, cube_dim=16, device=device)
    assert (out == 33).all()
    with pytest.raises(AssertionFailed, match=r"in unit .*: \('block', 33\)"):
        checks_its_setting.launch(out, 33, cube_count=2, cube_dim=16, device=device)


@cb.cube
def in_rows(out: Tensor[i32]) -> None:
    x, y, z = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_Z
    assert out[z, y, x] == 0
    out[z, y, x] = 1


@given(st.integers(0, 3), st.integers(0, 5), st.integers(0, 20))
@settings(max_examples=20)
def test_places_in_three_dimensions(z: int, y: int, x: int) -> None:
    place = f"unit ({x % 7}, {y % 3}, {z % 2}) of cube ({x // 7}, {y // 3}, {z // 2})"
    for device in DEVICES[:3]:
        out = np.zeros((4, 6, 21), np.int32)
        out[z, y, x] = 3
        with pytest.raises(AssertionFailed) as caught:
            in_rows.launch(out, cube_count=(3, 2, 2), cube_dim=(7, 3, 2), device=device)
        assert place in str(caught.value)


@cb.cube
def in_steps(x: Array[i64], step: Array[i64], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    for _ in range(x[i], i64(7), step[i]):
        out[i] += 1


@given(st.lists(st.integers(-2, 2), min_size=21, max_size=21), st.integers(0, 20))
@settings(max_examples=20)
def test_a_run_time_step_of_zero(steps: list[int], first: int) -> None:
    steps[first] = 0
    x, step = np.arange(21) - 5, np.array(steps)
    trips = [len(range(a, 7, b)) if b else 0 for a, b in zip(x.tolist(), steps, strict=True)]
    out = np.zeros(21, np.int32)
    in_steps.over(21)(x, step, out)
    assert out.tolist() == trips
    for device in DEVICES[:3]:
        check = "auto" if device == "reference" else "validate"
        with pytest.raises((AssertionFailed, ReferenceFault), match="the step of range is 0"):
            in_steps.over(21, device=device, check=check)(x, step, out)
        step[step == 0] = 1
        in_steps.over(21, device=device, check=check)(x, step, out)
        step[first] = 0


# ── print ────────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def every_type(
    a: Array[f16], b: Array[bf16], c: Array[f32], d: Array[f64], e: Array[i8], f: Array[u8],
    g: Array[i64], h: Array[u64], t: Array[bool],
) -> None:  # fmt: skip
    i = cb.ABSOLUTE_POS
    print(a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i], t[i], i)


@pytest.mark.parametrize("device", DEVICES)
def test_prints_what_python_prints(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    special = [0.1, -0.0, np.inf, np.nan, 3.0, 1e-5, 65504.0]
    arrays = [np.array(special, t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, float)]
    whole = [-128, -1, 0, 1, 127, 5, -7]
    arrays += [np.array(whole).astype(t) for t in (np.int8, np.uint8, np.int64, np.uint64)]
    arrays.append(np.array(whole) > 0)
    every_type.over(7, device=device)(*arrays)
    rows = [" ".join(str(array[i]) for array in arrays) + f" {i}\n" for i in range(7)]
    assert capsys.readouterr().out == "".join(rows)


@cb.cube
def many_forms(x: Array[f32], n: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    point = Point(x[i], n[i])
    print("{x}", f"{{{x[i]:8.3f}|{n[i]:<5}|{n[i]:+d}}}", point, (n[i],), ((), (1, "a", x[i])), None)
    print(x[i], n[i], sep=", ", end=";\n")
    print(f"{n[i]=} {n[i]!r} {'text'!r} {3.5:.2f}")
    print()


@pytest.mark.parametrize("device", DEVICES[:3])
def test_forms(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    many_forms.over(2, device=device)(np.array([1.5, -2], np.float32), np.array([7, 80], np.int32))
    assert capsys.readouterr().out == (
        "{x} {   1.500|7    |+7} Point(x=1.5, y=7) (7,) ((), (1, 'a', 1.5)) None\n"
        "1.5, 7;\nn[i]=7 7 'text' 3.50\n\n"
        "{x} {  -2.000|80   |+80} Point(x=-2.0, y=80) (80,) ((), (1, 'a', -2.0)) None\n"
        "-2.0, 80;\nn[i]=80 80 'text' 3.50\n\n"
    )


@cb.cube
def chatty(x: Array[i32], trips: i32) -> None:
    shared = cb.shared(i32, cb.CUBE_DIM)
    shared[cb.UNIT_POS] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    other = shared[cb.CUBE_DIM - 1 - cb.UNIT_POS]
    for trip in range(trips):
        if other % 3 == trip % 3:
            continue
        print(cb.CUBE_POS, cb.UNIT_POS, trip, other)
    cb.sync_cube()
    print("end", shared[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("units", [1, 5, 32, 70])
def test_order_of_prints(device: str, units: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Cube after cube, unit after unit, each unit's in its order."""
    x = np.random.default_rng(units).integers(0, 100, 9 * units).astype(np.int32)
    chatty.launch(x, 4, cube_count=9, cube_dim=units, device=device)
    expected = []
    for cube, part in enumerate(x.reshape(9, units)):
        for unit in range(units):
            other = part[units - 1 - unit]
            expected += [
                f"{cube} {unit} {trip} {other}" for trip in range(4) if other % 3 != trip % 3
            ]
            expected.append(f"end {part[0]}")
    assert capsys.readouterr().out.splitlines() == expected


@cb.cube
def flood(x: Array[i32]) -> None:
    print("line", x[cb.ABSOLUTE_POS])


@pytest.mark.parametrize("device", DEVICES[:2])
def test_more_prints_than_there_is_room_for(
    device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    room = reports.PRINT_WORDS // (reports.PRINT_HEAD + 1)
    x = np.zeros(room + 100, np.int32)
    flood.over(x.size, device=device)(x)
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) == room
    assert last == "… and 100 prints more than a launch has room for"
    flood.over(3, device=device)(x)
    assert capsys.readouterr().out == "line 0\n" * 3


@cb.cube
def prints_then_fails(x: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    print("before", i)
    assert x[i] == 0


@pytest.mark.parametrize("device", DEVICES[:2])
def test_what_was_printed_before_a_fault_is_shown(
    device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionFailed):
        prints_then_fails.over(3, device=device)(np.array([0, 1, 0], np.int32))
    assert capsys.readouterr().out == "before 0\nbefore 1\nbefore 2\n"


def test_threads_have_reports_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    failures: list[str] = []

    def run(number: int) -> None:
        values = np.zeros(5000, np.float32)
        values[number * 100] = 20 + number
        out = np.zeros_like(values)
        for _ in range(10):
            try:
                all_below.over(values.size)(values, 10.0, out)
            except AssertionFailed as error:
                failures.append(str(error).splitlines()[0].rpartition(": ")[2])
            flood.over(3)(np.full(3, number, np.int32))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [f"{20 + n:.2f} at {n * 100} is not below 10.0" for n in range(4) for _ in range(10)]
    assert sorted(failures) == sorted(expected)
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(
        f"line {n}" for n in range(4) for _ in range(30)
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork(capfd: pytest.CaptureFixture[str]) -> None:
    flood.over(2)(np.array([4, 5], np.int32))
    capfd.readouterr()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            values = np.full(20000, 11, np.float32)
            with pytest.raises(AssertionFailed):
                all_below.over(values.size)(values, 10.0, values.copy())
            flood.over(2)(np.array([6, 7], np.int32))
            os.write(1, b"done\n")
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@cb.cube
def helper_that_tests(v: float) -> Any:
    assert v > 0.0, "positive"
    print("helper", v)
    return cb.sqrt(v)


@cb.cube
def calls_it(x: Array[f32]) -> None:
    x[cb.ABSOLUTE_POS] = helper_that_tests(x[cb.ABSOLUTE_POS])


@pytest.mark.parametrize("device", DEVICES[:2])
def test_in_a_helper(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssertionFailed, match="positive") as caught:
        calls_it.over(2, device=device)(np.array([4, -1], np.float32))
    assert "called from here in calls_it" in str(caught.value)
    capsys.readouterr()
    assert helper_that_tests(9.0) == 3
    assert capsys.readouterr().out == "helper 9.0\n"
    with pytest.raises(AssertionFailed):
        helper_that_tests(-9.0)


def test_static_print_comes_once(capsys: pytest.CaptureFixture[str]) -> None:
    @cb.cube
    def kernel(x: Array[f32], count: Comptime[int]) -> None:
        cb.static_print("count", count, x, cb.CUBE_DIM, x[0])
        total = 0.0
        for _ in cb.unroll(range(count)):
            total += x[cb.ABSOLUTE_POS]
        grown = 1
        for k in range(len(x)):
            grown = grown + k
        x[cb.ABSOLUTE_POS] = total + f32(grown)

    kernel[1, 4](np.zeros(4, np.float32), 3)
    assert capsys.readouterr().out == "count 3 an array of f32 4 f32\n"
    kernel[1, 4](np.zeros(4, np.float32), 3)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("device", DEVICES[:2])
def test_the_first_of_several_kinds_of_faults_is_raised(device: str) -> None:
    @cb.cube
    def kernel(x: Array[i32], n: Array[i32]) -> None:
        i = cb.ABSOLUTE_POS
        if i == 3:
            x[i + 100] = 1
        assert n[i] == 0

    x = np.zeros(8, np.int32)
    with pytest.raises(OutOfBoundsError):
        kernel.over(8, device=device, check="validate")(x, x.copy())
    with pytest.raises(AssertionFailed):
        kernel.over(3, device=device, check="validate")(x[:3], x[:3] + 1)
