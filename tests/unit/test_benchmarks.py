"""The parts of `benchmarks` that can be wrong without anyone noticing.

The answer that Intel's Mandelbrot is checked against is itself checked, in plain Python; so are the
arithmetic of bandwidths and the word a missing peer leaves behind.
"""

import copy
import functools
import importlib.metadata
import io
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rich.console import Console

from benchmarks import memory_bandwidth, rows, timing
from benchmarks.limits import Limits
from benchmarks.peers import PEERS, PeerUnavailable, opencl
from benchmarks.report import plot, summary, table
from benchmarks.targets import targets
from benchmarks.timing import in_turns, measure, ratio


def counted_in_python(column: int, row: int) -> int:
    """One pixel, every operation rounded to f32 as the kernel rounds it."""
    f32 = np.float32
    cx = rows.MANDELBROT_ORIGIN[0] + rows.MANDELBROT_STEP * f32(column)
    cy = rows.MANDELBROT_ORIGIN[1] + rows.MANDELBROT_STEP * f32(row)
    zx = zy = f32(0)
    for n in range(rows.MANDELBROT_ITERATIONS):
        xx, yy = zx * zx, zy * zy
        if xx + yy > f32(4):
            return n
        zx, zy = xx - yy + cx, f32(2) * zx * zy + cy
    return rows.MANDELBROT_ITERATIONS


def test_mandelbrot_reference_counts_as_plain_python_does() -> None:
    across, down = np.arange(3, 2048, 131), np.arange(5, 2048, 127)
    counts = rows.mandelbrot_counts(across[None, :], down[:, None])
    expected = [[counted_in_python(int(x), int(y)) for x in across] for y in down]
    assert counts.tolist() == expected
    assert {0, 256} & set(counts.ravel().tolist()) == {256}
    assert len(np.unique(counts)) > 10


def test_the_best_run_counts_and_the_warm_up_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 3.0, 10.0, 12.0, 20.0, 25.0])
    monkeypatch.setattr("benchmarks.timing.time.perf_counter", lambda: next(clock))
    calls: list[None] = []
    assert measure(lambda: calls.append(None), repeats=3, warm_up=2) == 2000.0
    assert len(calls) == 5


def test_split_copy_covers_sizes_that_threads_do_not_divide() -> None:
    assert memory_bandwidth.measure_copy(copied_bytes=10_007, threads=3, repeats=1) > 0


def test_missing_runtime_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> list[Path]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    with pytest.raises(PeerUnavailable, match="intel-opencl-rt is not installed"):
        opencl.runtime_library()


def test_turns_are_taken_by_all_and_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    seconds = {"quick": 0.0625, "slow": 1.0}
    clock = SimpleNamespace(perf_counter=lambda: sum(seconds[name] for name in order))
    monkeypatch.setattr(timing, "time", clock)
    calls = {name: functools.partial(order.append, name) for name in seconds}
    samples = in_turns(calls, turns=4, patience_s=1.5)
    assert [sorted(order[:2]), sorted(order[2:4])] == [["quick", "slow"]] * 2
    assert order[4:] == ["quick"] * 3
    assert samples == {"quick": [62.5] * 4, "slow": [1000.0]}
    assert ratio([1.0, 2.0, 9.0], [2.0, 4.0, 1.0]) == 0.5


def test_nobody_always_comes_behind_the_same_other() -> None:
    order: list[str] = []
    calls = {name: functools.partial(order.append, name) for name in ("ours", "theirs", "others")}
    in_turns(calls, turns=19)
    turns = [order[start : start + 3] for start in range(0, len(order), 3)]
    assert all(sorted(turn) == sorted(calls) for turn in turns)
    assert len(set(pairwise(order))) >= 6
    assert {turn[0] for turn in turns} == set(calls)


def test_limit_is_the_slower_of_memory_and_arithmetic() -> None:
    limits = Limits(bytes_a_ms=100.0, flops_a_ms=1000.0)
    row = rows.ROWS[0]
    assert limits.least_ms(replace(row, moved_bytes=500, flops=None)) == 5.0
    assert limits.least_ms(replace(row, moved_bytes=500, flops=20_000)) == 20.0
    assert limits.least_ms(replace(row, moved_bytes=None, flops=None)) is None


@pytest.mark.parametrize("name", ["saxpy", "exp", "power", "gelu", "tanh_gelu", "black_scholes"])
def test_numpy_says_what_the_kernel_says(name: str) -> None:
    row = next(row for row in rows.ROWS if row.name == name)
    given = [each[:3000] if isinstance(each, np.ndarray) else each for each in row.arguments()]
    small = replace(row, arguments=lambda: [copy.copy(each) for each in given])
    if name == "saxpy":
        small = replace(small, is_right=lambda arrays: len(arrays) == 2)
    numpy_peer = next(peer for peer in PEERS if peer.name == "NumPy").open(1)
    assert numpy_peer.prepare(small) is not None
    wrong = replace(small, launch=lambda *_: lambda: None, is_right=lambda _: True)
    with pytest.raises(AssertionError, match="NumPy"):
        numpy_peer.prepare(wrong)


RESULT = {
    "threads": 1, "machine": "some machine", "versions": {"A": "1", "B": "2"},
    "missing": {"C": "c is not installed"}, "copy_gb_s": 10.0, "fma_gflop_s": 100.0,
    "rows": [{
        "row": "saxpy", "best_ms": {"ours": 1.0, "unchecked": 1.0, "contract": 0.5, "A": 4.0,
                                    "B": 2.0},
        "ours_over": {"unchecked": 1.0, "contract": 2.0, "A": 0.25, "B": 0.5}, "best_peer": "B",
        "failed": {}, "limit_ms": 0.5, "limit_over_ours": 0.5,
    }],
}  # fmt: skip


def test_report_names_the_best_peer_and_those_that_are_missing() -> None:
    lines = summary(RESULT)
    assert any("A 1: geometric mean 0.25" in line for line in lines)
    assert "not measured: C, c is not installed" in lines
    console = Console(record=True, width=200, file=io.StringIO())
    console.print(table(RESULT))
    assert "0.50 B" in console.export_text()


def test_plot_is_well_formed_with_a_mark_for_each_row() -> None:
    root = ET.fromstring(plot([RESULT, {**RESULT, "threads": 2}]))
    assert sum(each.tag.endswith("circle") for each in root.iter()) == 2


def test_targets_say_what_misses() -> None:
    found = {figure.name: figure for figure in targets([RESULT])}
    assert found["1 threads: ours ÷ best peer, mean of 1 rows"].holds
    assert found["1 threads: worst of them, saxpy beside B"].value == 0.5
    assert not found["1 threads: saxpy, share of what the machine allows"].holds
    assert found["1 threads: saxpy, checked ÷ unchecked"].holds
    assert not any("one thread ÷ two" in name for name in found)


def test_targets_compare_threads() -> None:
    row = {**RESULT["rows"][0], "row": "sin", "best_peer": None}  # type: ignore[index]
    one, two = {**RESULT, "rows": [row]}, {**RESULT, "threads": 2, "rows": [row]}
    (figure,) = (each for each in targets([one, two]) if "two" in each.name)
    assert (figure.value, figure.holds) == (1.0, False)
