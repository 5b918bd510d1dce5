"""What lines cost: the model and the samples find the line that works."""

import json
import linecache
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
import examples.kernels
from cubepy import Array, f32
from cubepy.errors import RuntimeUnavailable
from cubepy.inspection import LineTimes, estimated_costs
from cubepy.location import Loc
from cubepy.tools import main
from tests.unit.explore.test_page import KERNELS, line_of

sampled = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="lines are timed on Linux only"
)


@cb.cube
def works(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    v = x[i]
    total = 0.0
    for _ in range(300):
        total = total / (v + 2.0) + 1.0
    out[i] = total + cb.sqrt(v)


HOT = works.source.loc.line + 5


def shares(counts: Any) -> dict[int, float]:
    """By line of the kernel; what is called counts for the caller."""
    found: dict[int, float] = {}
    for loc, count in counts.items():
        outer = loc
        while outer.inlined_at is not None:
            outer = outer.inlined_at
        found[outer.line] = found.get(outer.line, 0) + count
    total = sum(found.values())
    return {line: count / total for line, count in found.items()}


def measured(launcher: Any, *arguments: Any) -> dict[int, float]:
    """Shares of enough samples; how long that takes is for a busy machine to say."""
    counts = LineTimes()
    for _ in range(40):
        counts.update(launcher.time_lines(*arguments, seconds=0.25))
        if sum(counts.values()) > 200:
            return shares(counts)
    pytest.fail(f"{counts} in 10 seconds")


@sampled
def test_samples_find_the_line_that_works() -> None:
    x = np.ones(1 << 16, np.float32)
    found = measured(works.over(x.size), x, x.copy())
    assert max(found, key=lambda line: found[line]) in (HOT - 1, HOT)
    assert found.get(HOT, 0) > 0.6


@sampled
def test_what_was_measured_prints_shares_of_lines() -> None:
    x = np.ones(1 << 12, np.float32)
    counts = works.over(x.size).time_lines(x, x.copy(), seconds=0.3)
    assert len(repr(counts)) < 80
    head, *lines = str(counts).splitlines()
    assert head == f"{sum(counts.values()):,} samples"
    told = [re.fullmatch(r" +([\d.]+)%  test_measure\.py:(\d+)  (.+)", line) for line in lines]
    found = {int(line[2]): float(line[1]) / 100 for line in told if line is not None}
    assert len(found) == len(lines)
    assert found == {
        line: pytest.approx(share, abs=0.001) for line, share in shares(counts).items()
    }
    assert [*found.values()] == sorted(found.values(), reverse=True)


def test_what_prints_of_long_kernels_is_short() -> None:
    calls = Loc(file="helper.py", line=3)
    many = LineTimes(
        {calls.called_from(Loc(file="long.py", line=line)): line for line in range(1, 100)}
    )
    assert len(str(many).splitlines()) == 22
    assert str(many).endswith("… and 79 lines more")
    code = works.inspect(signature="", target="cpu:x86-64-v3").machine_code
    assert len(str(code)) < 120
    assert str(LineTimes()) == "0 samples"


@sampled
def test_small_launches_have_samples_enough() -> None:
    x = np.ones(64, np.float32)
    assert measured(works.over(x.size), x, x.copy()).get(HOT, 0) > 0.6


@sampled
@pytest.mark.parametrize(("name", "cube"), [("matmul", (16, 16)), ("block_sum", (256,))])
def test_the_model_and_the_samples_agree_where_units_work_together(name: str, cube: Any) -> None:
    kernel = getattr(examples.kernels, name)
    random = np.random.default_rng(0)
    if name == "matmul":
        arguments = [random.standard_normal((256, 256), np.float32) for _ in range(3)]
        launcher = kernel[(16, 16), cube]
    else:
        arguments = [random.standard_normal(1 << 16, np.float32), np.zeros(256, np.float32)]
        launcher = kernel[256, cube]
    found = measured(launcher, *arguments)
    inspection = launcher.inspect(*arguments, target="cpu")
    file = inspection.stages.lowered.loc.file
    estimated = {
        line: cost.share
        for (place, line), cost in estimated_costs(inspection.stages.optimized).items()
        if place == file
    }
    hottest = max(estimated, key=lambda line: estimated[line])
    assert hottest == max(found, key=lambda line: found[line])
    barriers = sum(
        share for line, share in estimated.items() if "sync_cube" in linecache.getline(file, line)
    )
    assert barriers < 0.15


@sampled
def test_results_and_handlers_stay_as_they_are() -> None:
    import signal  # noqa: PLC0415

    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    try:
        x = np.linspace(0, 1, 5000, dtype=np.float32)
        out, wanted = np.zeros_like(x), np.zeros_like(x)
        works.over(x.size)(x, wanted)
        works.over(x.size).time_lines(x, out, seconds=0.05)
        assert out.tobytes() == wanted.tobytes()
        assert not rang
        signal.raise_signal(signal.SIGALRM)
        assert rang
    finally:
        signal.signal(signal.SIGALRM, before)


def test_devices_that_cannot_tell_say_so() -> None:
    x = np.ones(8, np.float32)
    with pytest.raises(RuntimeUnavailable, match="reference does not tell how long each line"):
        works.over(8, device="reference").time_lines(x, x.copy())


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "opencl", "reference"])
def test_the_model_finds_it_too(target: str) -> None:
    costs = estimated_costs(works.inspect(signature="", target=target).stages.optimized)
    here = {line: cost.share for (file, line), cost in costs.items() if file == __file__}
    assert max(here, key=lambda line: here[line]) == HOT
    assert 0.9 < here[HOT] < 1
    assert sum(here.values()) == pytest.approx(1, abs=1e-6)


def test_loops_count_their_trips() -> None:
    def cost_of(trips: int) -> float:
        @cb.cube
        def loops(x: Array[f32]) -> None:
            for k in cb.unroll(range(2)) if trips < 0 else range(trips):
                x[k] += 1.0

        costs = estimated_costs(loops.inspect(signature="", target="reference").stages.lowered)
        return sum(cost.number for (file, _), cost in costs.items() if file == __file__)

    ten, hundred = cost_of(10), cost_of(100)
    assert 8 < hundred / ten <= 10


def content(page: Path) -> Any:
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.S)
    assert found is not None
    return json.loads(found[1])


@sampled
def test_a_page_shows_both(tmp_path: Path) -> None:
    file, page = tmp_path / "measured_kernels.py", tmp_path / "page.html"
    file.write_text(KERNELS)
    words = ["--run", "--seconds", "0.5", "--over", "32768", "--arguments", "given"]
    assert main(["explore", f"{file}:looked_at", *words, "-o", str(page)]) == 0
    shown = content(page)
    cpu = shown["targets"][0]
    assert "samples in 0.5 s" in cpu["remark"]
    rows = {row[2]: row[0] for row in shown["sources"][0]["rows"]}
    slowest = max(
        (place for place in cpu["measured"] if int(place) in rows),
        key=lambda place: cpu["measured"][place],
    )
    assert rows[int(slowest)] in (line_of("for k in range"), line_of("total += halved"))
    others = [each for each in shown["targets"] if each["name"] != "cpu"]
    assert others
    assert all(not each["measured"] for each in others)


@sampled
def test_what_was_measured_is_shown_whatever_targets_are_asked_for(tmp_path: Path) -> None:
    file, page = tmp_path / "other_targets.py", tmp_path / "page.html"
    file.write_text(KERNELS)
    words = ["--run", "--seconds", "0.5", "--over", "32768", "--arguments", "given"]
    targets = ["--target", "cpu:x86-64-v2", "--target", "opencl"]
    assert main(["explore", f"{file}:looked_at", *words, *targets, "-o", str(page)]) == 0
    shown = content(page)["targets"]
    processor = cb.device("cpu").target.features.cpu_name
    titles = [each["title"] for each in shown]
    assert titles == [f"cpu:native ({processor})", "cpu:x86-64-v2", "opencl"]
    assert [bool(each["measured"]) for each in shown] == [True, False, False]


def test_wrong_words_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong_words.py"
    file.write_text(KERNELS)
    kernel = f"{file}:looked_at"
    assert main(["explore", kernel, "--run", "--arguments", "taken"]) == 1
    assert "no function 'taken' that gives arguments" in capsys.readouterr().err
    assert main(["explore", kernel, "--target", "fpga"]) == 1
    assert "fpga" in capsys.readouterr().err
    assert main(["explore", f"{file}:looked"]) == 1
    assert "did you mean looked_at?" in capsys.readouterr().err
