"""The parts of `benchmarks` that can be wrong without anyone noticing.

The answer that Intel's Mandelbrot is checked against is itself checked, in plain Python; so are the
arithmetic of bandwidths and the word a missing peer leaves behind.
"""

import importlib.metadata
from pathlib import Path

import numpy as np
import pytest

from benchmarks import memory_bandwidth, opencl_anchor, rows
from benchmarks.timing import Timing, measure


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


def test_bandwidth_is_bytes_over_the_best_run() -> None:
    timing = Timing(best_ms=2.0, median_ms=3.0)
    assert timing.gigabytes_per_second(8_000_000) == pytest.approx(4.0)


def test_measure_does_not_count_the_warm_up() -> None:
    calls: list[int] = []
    timing = measure(lambda: calls.append(len(calls)), repeats=5, warm_up=2)
    assert len(calls) == 7
    assert 0 <= timing.best_ms <= timing.median_ms


def test_split_copy_covers_sizes_that_threads_do_not_divide() -> None:
    assert memory_bandwidth.measure_copy(copied_bytes=10_007, threads=3, repeats=1).best_ms > 0


def test_missing_runtime_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> list[Path]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", missing)
    with pytest.raises(opencl_anchor.PeerUnavailable, match="intel-opencl-rt is not installed"):
        opencl_anchor.runtime_library()
