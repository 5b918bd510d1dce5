"""`cubepy doctor --measure`: kernels that compute what they say, figures that can be believed."""

import re

import numpy as np
import pytest

from cubepy import runtime
from cubepy.tools import main, peaks


def test_doctor_measures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures that this machine cannot have are not believed."""
    monkeypatch.setattr(peaks, "_SECONDS", 0.05)
    monkeypatch.setattr(peaks, "_MOST_ELEMENTS", 1 << 20)
    monkeypatch.setattr(peaks, "_CHAINS", (2,))
    only = runtime.Registry({"cpu": lambda: runtime.registry().runtime("cpu")})
    monkeypatch.setattr("cubepy.tools.doctor.registry", lambda: only)
    assert main(["doctor", "--measure"]) == 0
    text = capsys.readouterr().out
    memory = float(re.search(r"measured: memory ([\d.]+) GB/s", text)[1])  # type: ignore[index]
    flops = float(re.search(r"measured: f32 ([\d.]+) GFLOP/s", text)[1])  # type: ignore[index]
    launch = float(re.search(r"measured: launch ([\d.]+) µs", text)[1])  # type: ignore[index]
    assert 0.1 < memory < 2000
    assert 1 < flops < 256 * 64 * 6
    assert 0.005 < launch < 2000


def test_a_figure_that_most_runs_do_not_reach_is_marked() -> None:
    calm, busy = peaks._Runs(best=1.0, middle=1.1), peaks._Runs(best=1.0, middle=1.5)
    assert not calm.disturbed
    assert busy.disturbed == "; half of the runs took 50% longer or more: is the machine busy?"


def test_measured_kernels_compute_what_they_say() -> None:
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    out = np.zeros_like(x)
    peaks.copied.over(64)(x, out)
    assert (out == x).all()
    x[:2] = 0.5, 1.0
    peaks.multiplied.over(64)(x, out, 64, 3)
    # Each chain goes to 2, its fixed point, so the sum of three goes to 6.
    assert out.tolist() == [6.0] * 64
    code = peaks.multiplied.inspect(x, out, 64, 2, target="cpu:x86-64-v3").asm
    assert code.count("vfmadd") >= 4 * 2 * 4
