"""`cb.profile()`: every launch is measured however it is made, and none once it is over."""

import itertools
import json
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32
from cubepy.errors import OutOfBoundsError
from cubepy.ir import I32, Access
from cubepy.profiling import Profile
from cubepy.runtime import LoadedKernel, Stream, grid_of, launch, observers, switches
from cubepy.tools import main
from tests.opencl_devices import on_the_first
from tests.unit.runtime.fake import FakeDevice, array, artifact

GRID = grid_of((1, 1, 1), (1, 1, 1))


@cb.cube
def scale(x: Array[f32], out: Array[f32], factor: f32) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] * factor


@cb.cube
def outside(x: Array[f32]) -> None:
    x[cb.ABSOLUTE_POS + 100] = 1.0


@cb.cube
def row_sums(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    total = i32(0)
    for k in range(4):
        total += x[4 * i + k]
    out[i] = total


def arrays(size: int = 1000) -> tuple[Any, Any]:
    return np.arange(size, dtype=np.float32), np.zeros(size, np.float32)


def counts(profile: Profile) -> dict[str, int]:
    return {f"{row.kernel} on {row.device}": row.count for row in profile.rows}


def direct(x: Any, out: Any) -> None:
    scale.over(x.size)(x, out, 2.0)


def prepared(x: Any, out: Any) -> None:
    run = scale.over(x.size).prepare(x, out, 2.0)
    run(x, out, 2.0)


def replayed(x: Any, out: Any) -> None:
    with cb.capture() as recording:
        scale.over(x.size)(x, out, 2.0)
    recording.replay()


def on_a_stream(x: Any, out: Any) -> None:
    scale.over(x.size, device="cpu").on(cb.device("cpu").stream())(x, out, 2.0)


@pytest.mark.parametrize("way", [direct, prepared, replayed, on_a_stream])
def test_each_way_of_launching_is_measured(way: Callable[[Any, Any], None]) -> None:
    x, out = arrays()
    for _ in range(5):  # the short ways are open
        way(x, out)
    out[:] = 0
    with cb.profile() as profile:
        for _ in range(3):
            way(x, out)
    assert counts(profile) == {"scale on cpu": 3}
    np.testing.assert_array_equal(out, 2 * x)
    (row,) = profile.rows
    assert 0 < row.shortest <= row.mean <= row.longest <= row.total <= profile.wall
    assert row.total == pytest.approx(sum(each.seconds for each in profile.launches))
    assert (row.shape, row.target) == ((1000,), "cpu")


def test_times_are_those_of_the_device() -> None:
    device, times = FakeDevice(host_memory=True), list[float]()

    def now(*_: object) -> None:
        times.append(time.perf_counter())
        time.sleep(0.02)

    slow = LoadedKernel(artifact=artifact("slow", x=(array(I32), Access.READ)), handle=now)
    with cb.profile() as profile:
        now()
        launch(device, slow, GRID, [np.zeros(1, np.int32)])
        now()
    (row,), (launched,) = profile.rows, profile.launches
    before, inside, after = times
    # What was waited before and after it does not count; what it waited itself does.
    assert before + 0.01 < launched.begin <= inside
    assert inside + 0.01 < launched.end <= after
    assert row.total == launched.seconds
    assert profile.wall >= after - before


def test_nothing_is_left_behind() -> None:
    x, out = arrays()
    closed = switches.closed
    profile = cb.profile()

    def failing() -> None:
        with profile:
            assert switches.closed == closed + 1
            assert observers
            direct(x, out)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert (switches.closed, observers) == (closed, [])
    direct(x, out)
    assert counts(profile) == {"scale on cpu": 1}


def test_profiles_inside_one_another() -> None:
    x, out = arrays()
    with cb.profile() as outer:
        direct(x, out)
        with cb.profile() as inner:
            direct(x, out)
    assert (counts(outer), counts(inner)) == ({"scale on cpu": 2}, {"scale on cpu": 1})


def test_shapes_devices_and_compiling_have_rows_of_their_own() -> None:
    @cb.cube
    def fresh(x: Array[f32], out: Array[f32]) -> None:
        out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS] + 1.0

    x, out = arrays()
    with cb.profile() as profile:
        fresh.over(10)(x, out)
        fresh.over((4, 8))(x, out)
        fresh.over(10, device="reference")(x, out)
    rows = {(row.device, row.shape) for row in profile.rows}
    assert rows == {("cpu", (10,)), ("cpu", (4, 8)), ("reference", (10,))}
    assert {each.device for each in profile.compiled_kernels} == {"cpu", "reference"}
    assert all(each.end > each.begin for each in profile.compiled_kernels)


def test_bandwidth_counts_each_element_once_and_is_left_out_where_that_says_little() -> None:
    x, out = arrays(64)
    with cb.profile() as profile:
        direct(x, out)
        direct(np.broadcast_to(x[:1], 64), out)
        row_sums.over(16)(np.ones(64, np.int32), np.zeros(16, np.int32))
    octets = [each.octets for each in profile.launches]
    assert octets == [64 * 4 * 2, 4 + 64 * 4, None]
    by_name = {row.kernel: row for row in profile.rows}
    row = by_name["scale"]
    assert row.bandwidth == pytest.approx((64 * 8 + 4 + 64 * 4) / row.total)
    assert by_name["row_sums"].bandwidth is None


def test_a_launch_that_fails_is_told_and_not_counted() -> None:
    x, out = arrays(8)
    device = cb.device("cpu")
    with cb.profile() as profile:
        with pytest.raises(OutOfBoundsError):
            outside.over(8, check="validate")(x)
        stream = device.stream()
        buffer = device.array(x)
        outside.over(8, check="validate").on(stream)(buffer)
        with pytest.raises(OutOfBoundsError):
            stream.synchronize()
        direct(x, out)
    assert counts(profile) == {"scale on cpu": 1}
    assert profile.failed == 1  # the other one raised at once
    assert "1 launch failed" in str(profile)


def test_the_trace_keeps_so_many_and_the_table_all() -> None:
    x, out = arrays()
    with cb.profile(keep=2) as profile:
        for _ in range(5):
            direct(x, out)
    assert len(profile.launches) == 2
    assert counts(profile) == {"scale on cpu": 5}


def test_arguments_are_let_go() -> None:
    memory = cb.device("cpu").pool
    x = cb.device("cpu").array(np.ones(1 << 16, np.float32))
    held = memory.stats.in_use
    with cb.profile():
        scale.over(x.size)(x, x, 2.0)
        del x
        assert memory.stats.in_use < held


# ── for people ──────────────────────────────────────────────────────────────────────────────────


def test_the_table_has_a_line_a_row() -> None:
    x, out = arrays()
    with cb.profile() as profile:
        direct(x, out)
        direct(x[:10], out[:10])
    text = str(profile)
    head = next(line for line in text.splitlines() if "GB/s" in line)
    assert " ".join(head.split()) == "kernel device shape launches total share mean min max GB/s"
    assert sum(line.strip().startswith("scale") for line in text.splitlines()) == 2
    assert text.startswith("2 launches, ")
    assert profile._repr_html_().count("<tr>") == 3
    assert "2 launches" in repr(profile)
    assert str(Profile()) == "no launch"


def slices_of(
    profile: Profile, path: Path
) -> dict[tuple[str, str], list[tuple[str, float, float]]]:
    """The file, held against the Trace Event Format: slices by the names of process and thread."""
    profile.trace(path)
    written = json.loads(path.read_text())
    assert set(written) == {"traceEvents", "displayTimeUnit"}
    names: dict[tuple[str, int, int], str] = {}
    found = defaultdict(list)
    for event in written["traceEvents"]:
        assert {"ph", "name", "pid", "tid", "args"} <= set(event)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "M":
            process = 0 if event["name"] == "process_name" else event["pid"]
            number = event["pid"] if event["name"] == "process_name" else event["tid"]
            names[event["name"], process, number] = event["args"]["name"]
            continue
        assert event["ph"] == "X"
        assert event["ts"] >= 0
        assert event["dur"] >= 0
        track = (
            names["process_name", 0, event["pid"]],
            names["thread_name", event["pid"], event["tid"]],
        )
        found[track].append((event["name"], event["ts"], event["ts"] + event["dur"]))
    return found


def assert_in_turn(slices: list[tuple[str, float, float]]) -> None:
    """What a viewer shows on one line must not overlap."""
    ordered = sorted(slices, key=lambda each: each[1])
    for (_, _, end), (_, begin, _) in itertools.pairwise(ordered):
        assert begin >= end - 1e-3


def test_a_trace_has_threads_and_streams(tmp_path: Path) -> None:
    x, out = arrays(100_000)
    device = cb.device("cpu")
    streams: list[Stream] = [device.stream(), device.stream()]
    buffers = [device.array(x) for _ in streams]

    def other() -> None:
        for _ in range(4):
            scale.over(x.size)(x, np.empty_like(x), 2.0)

    with cb.profile() as profile:
        thread = threading.Thread(target=other, name="other")
        thread.start()
        for _ in range(4):
            direct(x, out)
            for stream, buffer in zip(streams, buffers, strict=True):
                scale.over(x.size).on(stream)(buffer, buffer, 1.0)
        thread.join()
    found = slices_of(profile, tmp_path / "trace.json")
    launches = {track: each for track, each in found.items() if track[0] == "cpu"}
    names = {"MainThread", "other", "stream 1", "stream 2"}
    assert {track for _, track in launches} == names
    for each in launches.values():
        assert [name for name, _, _ in each] == ["scale"] * 4
        assert_in_turn(each)
    assert slices_of(Profile(), tmp_path / "empty.json") == {}


@pytest.mark.parametrize("device", on_the_first())
def test_opencl_measures_by_its_own_clock(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cubepy_opencl.queues import Queue  # noqa: PLC0415 - its library is not always there

    there = cb.device(device)
    x = there.array(np.ones(1 << 16, np.float32))
    direct(x, x)
    there.sync()
    enqueue, given = Queue.enqueue, []

    def held_up(*arguments: Any) -> Any:
        time.sleep(0.02)
        given.append(time.perf_counter())
        return enqueue(*arguments)

    with cb.profile() as profile:
        direct(x, x)
        with monkeypatch.context() as patch:
            patch.setattr(Queue, "enqueue", held_up)
            direct(x, x)
        direct(x, x)
        there.sync()
        time.sleep(0.05)
        stream = there.stream()
        scale.over(x.size).on(stream)(x, x, 2.0)
    (row,) = profile.rows
    assert row.count == 4
    assert row.device == device
    found = slices_of(profile, tmp_path / "trace.json")
    queue, own = found[device, "queue"], found[device, "stream 1"]
    assert [len(queue), len(own)] == [3, 1]
    assert_in_turn(queue)
    assert profile.launches[1].begin > given[0] - 0.01
    assert own[0][1] - queue[-1][2] > 40_000  # idle time between them is nobody's


# ── the command ─────────────────────────────────────────────────────────────────────────────────

SCRIPT = """
import sys
import numpy as np
import beside
from beside import twice

if __name__ == "__main__":
    x = np.ones(100, np.float32)
    for _ in range(3):
        twice.over(x.size)(x)
    print("printed", sys.argv[1:], x[0])
    if "fail" in sys.argv:
        raise SystemExit(3)
    if "wrong" in sys.argv:
        twice.over(x.size)(x, x)
"""
BESIDE = """
import cubepy as cb
from cubepy import Array, f32

@cb.cube
def twice(x: Array[f32]):
    x[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS] * 2.0
"""


@pytest.mark.parametrize(("word", "status"), [("--fine", 0), ("fail", 3), ("wrong", 1)])
def test_a_script_is_measured_as_it_is(tmp_path: Path, word: str, status: int) -> None:
    (tmp_path / "beside.py").write_text(BESIDE)
    script, trace = tmp_path / "script.py", tmp_path / "traces" / "trace.json"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "cubepy", "profile", "--trace", str(trace), str(script), word]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == status, done.stderr
    assert ("twice.over(x.size)(x, x)" in done.stderr) == (word == "wrong")
    assert done.stdout == f"printed ['{word}'] 8.0\n"
    assert re.search(r"^ *twice +cpu +100 +3 ", done.stderr, re.M), done.stderr
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(event["name"] == "twice" and event.get("cat") == "launch" for event in events) == 3


def test_a_script_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "nowhere.py"]) == 1
    assert "nowhere.py: no such file" in capsys.readouterr().err
