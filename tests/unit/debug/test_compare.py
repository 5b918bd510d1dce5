"""`cb.debug.compare`: planted mistakes are found, at their line, with both values."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
import examples.kernels as ek
from cubepy import Array, Comptime, debug, f32, i32
from cubepy.errors import ArgumentError, LaunchError
from cubepy.records import replace
from cubepy.runtime import LoadedKernel
from cubepy.target import Artifact
from cubepy_cpu.device import CpuDevice


class Wrong(CpuDevice):
    """The processor, with a mistake in every kernel."""

    def __init__(self, right: str, wrong: str) -> None:
        super().__init__()
        self._change = right, wrong

    @property
    def name(self) -> str:
        return "wrong"

    @property
    def toolchain(self) -> Sequence[tuple[str, bytes]]:
        return ()  # nothing of this goes into the store

    def native_kind(self, base: type) -> None:
        """Launches go through Python."""

    def native_table(self, base: type) -> None:
        """The same."""

    def load(self, artifact: Artifact) -> LoadedKernel:
        return super().load(replace(artifact, text=artifact.text.replace(*self._change)))


@cb.cube
def sums(x: Array[f32], TRIPS: Comptime[int], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    v = x[i]
    total = 0.0
    for k in range(TRIPS):
        scaled = v * 2.5
        total += scaled - f32(k)
    big = total > 40.0
    half = cb.f16(total)
    out[i] = total + f32(half) if big else total


def line_of(text: str) -> int:
    lines = Path(__file__).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def arguments() -> tuple[Any, ...]:
    x = np.linspace(0, 9, 40, dtype=np.float32)
    return x, 4, np.zeros_like(x)


def test_devices_that_agree() -> None:
    found = debug.compare(sums.over(40), arguments(), ["reference", "cpu"])
    assert found.same
    assert getattr(cb, "debug") is debug  # noqa: B009 (mypy does not see it)
    assert str(found) == "the same on reference, cpu"


def test_a_wrong_product_is_found_where_it_is() -> None:
    given = arguments()
    wrong = Wrong("= fmul", "= fadd")
    found = debug.compare(sums.over(40), given, ["reference", "cpu", wrong])
    assert not given[2].any()  # the arguments stay as they are
    assert found.devices == ("reference", "wrong")
    assert (found.argument, found.place, found.unit) == ("out", (0,), (0, 0, 0))
    assert found.loc.line == line_of("scaled = v * 2.5")
    by_name = {each.name: each for each in found.locals}
    assert (by_name["scaled"].left, by_name["scaled"].right) == (0.0, 2.5)
    assert by_name["v"].left == by_name["v"].right == 0.0
    text = str(found)
    assert "out[0] is np.float32(-6.0) on reference" in text
    assert "written by the unit at (0, 0, 0)" in text
    assert "^^^^^^^" in text
    assert "scaled  np.float32(0.0) on reference, np.float32(2.5) on wrong" in text


def test_a_way_only_some_trips_take() -> None:
    """The first element that differs, and the value that made it differ."""
    wrong = Wrong("fcmp ogt", "fcmp olt")
    found = debug.compare(sums.over(40), arguments(), ["reference", wrong])
    assert found.loc.line == line_of("big = total > 40.0")
    big = next(each for each in found.locals if each.name == "big")
    assert (bool(big.left), bool(big.right)) == (False, True)
    assert next(each for each in found.locals if each.name == "total").left.dtype == np.float32


def test_units_that_work_together() -> None:
    x = np.arange(64, dtype=np.float32)
    launcher, given = ek.block_sum[2, 32], (x, np.zeros(2, np.float32))
    assert debug.compare(launcher, given, ["reference", "cpu"]).same
    found = debug.compare(launcher, given, ["reference", Wrong("= fadd", "= fsub")])
    assert not found.same
    assert found.place == (0,)
    assert found.unit[1:] == (0, 0)


def test_stores_alone_may_differ() -> None:
    @cb.cube
    def stores(x: Array[i32], out: Array[i32]) -> None:
        out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS] + 7

    x = np.arange(9, dtype=np.int32)
    found = debug.compare(
        stores.over(9), (x, x * 0), ["reference", Wrong("splat (i32 7)", "splat (i32 8)")]
    )
    assert "no" not in found.devices
    assert (found.left, found.right) == (7, 8)
    assert not found.loc.known
    assert "its variables are the same on both" in str(found)
    assert "race" not in str(found)  # the reference would have found it
    others: list[Any] = ["cpu", Wrong("splat (i32 7)", "splat (i32 8)")]
    found = debug.compare(stores.over(9), (x, x * 0), others)
    assert str(found).endswith("this may be a race: launch it with device='reference'")


def test_one_device_is_nothing_to_compare() -> None:
    with pytest.raises(LaunchError, match="needs two devices"):
        debug.compare(sums.over(40), arguments(), ["cpu"])


def test_what_cannot_be_compared_is_told() -> None:
    wrong: Any = sums
    with pytest.raises(LaunchError, match=r"kernel with its sizes, not .*\n  help: sums.over\(n\)"):
        debug.compare(wrong, arguments())
    wrong = np.zeros(4)
    with pytest.raises(LaunchError, match=r"in one tuple, not ndarray"):
        debug.compare(sums.over(40), wrong)
    wrong = "cpu"
    with pytest.raises(LaunchError, match=r"needs two devices"):
        debug.compare(sums.over(40), arguments(), wrong)


def test_the_interpreter_and_the_processor_are_compared_unless_told() -> None:
    found = debug.compare(sums.over(40), arguments())
    assert found
    assert found.devices == ("reference", "cpu")


def test_a_comparison_counts_as_true_where_all_agree() -> None:
    same = debug.Comparison(devices=("a", "b"))
    different = debug.Comparison(devices=("a", "b"), argument="out")
    assert same
    assert not different


def test_comparing_needs_nothing_that_only_tests_install(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import sys
for name in ("mpmath", "hypothesis", "scipy", "pytest"):
    sys.modules[name] = None
import numpy as np
import cubepy as cb
from cubepy import Array, f32

@cb.cube
def doubled(x: Array[f32], out: Array[f32]):
    out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS] * 2.0

x = np.arange(9, dtype=np.float32)
print(cb.debug.compare(doubled.over(9), (x, np.zeros_like(x))))
""",
        encoding="utf-8",
    )
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert run.stdout == "the same on reference, cpu\n", run.stderr


def test_arguments_may_be_given_by_name() -> None:
    x = np.ones(16, np.float32)
    wrong = Wrong("fmul <", "fadd <")
    for found in (
        debug.compare(sums.over(16), devices=("reference", wrong), out=x.copy(), x=x, TRIPS=4),
        debug.compare(sums.over(16), (x, 4), ("reference", wrong), out=x.copy()),
    ):
        assert found.argument == "out"
        assert (found.left, found.right) == (4.0, 8.0)
    assert x.tolist() == [1.0] * 16
    with pytest.raises(ArgumentError, match="'TRIPS' is missing"):
        debug.compare(sums.over(16), (x,), out=x.copy())
