"""One unit as plain Python: it stores what the launch stored, and pdb shows the kernel's lines."""

import bdb
import importlib
import io
import pdb  # noqa: T100
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
import examples.kernels as ek
from cubepy import Array, Comptime, Tensor, Vector, f32, frontend, i32, i64, ir, replay
from cubepy.errors import CubeError, CubeTypeError, LaunchError, OutOfBoundsError
from cubepy.frontend import Position
from cubepy.testing import differential, generate_kernel


def halved(v: Any) -> Any:
    if v > 4.0:
        return v * 0.25
    return v * 0.5


@cb.cube
def wanders(x: Array[f32], at: Array[i32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    total = 0.0
    for k in range(at[i]):
        if k == 2:
            continue
        total += halved(x[(i + k) % len(x)])
        if total > 50.0:
            break
    while total > 3.0:
        total = cb.sqrt(total)
    out[i] = total


def arguments() -> tuple[Any, Any, Any]:
    x = np.linspace(0, 30, 40, dtype=np.float32)
    return x, np.arange(40, dtype=np.int32), np.zeros(40, np.float32)


def replayed(launcher: Any, unit: Any, *given: Any) -> tuple[replay.Recording, replay.Replay]:
    """The unit's recording, and its replay after it has run."""
    values = launcher._resolver.bind(given, {})
    notes: list[frontend.Note] = []
    grid, kernel, names, own = launcher.lowered(values, notes=notes)
    recording = replay.record(kernel, grid, own, replay.unit_at(unit, grid, kernel))
    again = replay.replay_of(recording, dict(zip(names, own, strict=True)), notes=notes)
    again.run()
    return recording, again


def agree(recording: replay.Recording, again: replay.Replay) -> None:
    """Computed anew by Python, every store has the bits that the interpreter stored."""
    stores = [event for event in recording.events if event.op.opdef is ir.ops.STORE]
    assert len(stores) == len(again.stored)
    assert not again.left
    for wanted, found in zip(stores, again.stored, strict=True):
        assert wanted.place == found.place
        assert np.asarray(wanted.value).tobytes() == np.asarray(found.value).tobytes()


@pytest.mark.parametrize("unit", [0, 3, 17, 39])
def test_a_unit_runs_again(unit: int) -> None:
    recording, again = replayed(wanders.over(40), unit, *arguments())
    agree(recording, again)
    assert again.stored


def test_units_that_work_together_hear_what_they_heard() -> None:
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    for unit in (0, 5, 40):
        recording, again = replayed(ek.block_sum[2, 32], unit, x, np.zeros(2, np.float32))
        agree(recording, again)
    rows = np.linspace(0, 1, 128, dtype=np.float32).reshape(2, 64)
    agree(*replayed(ek.softmax_rows[2, 32], 33, rows, np.zeros_like(rows)))


@pytest.mark.parametrize("seed", range(24))
def test_generated_kernels_run_again(seed: int) -> None:
    generated = generate_kernel(seed)
    compiled = differential.Compiled(generated)
    given = differential.arguments_of(compiled)
    kernel = compiled.kernel
    if generated.over:
        launcher = kernel.over(generated.over)
    else:
        launcher = kernel.launcher(generated.cube_count, generated.cube_dim)
    values = launcher._resolver.bind((), given)
    notes: list[frontend.Note] = []
    grid, lowered, names, own = launcher.lowered(values, notes=notes)
    for number in (0, 3):
        where = replay.Unit(0, number % int(np.prod(lowered.cube_dim)))
        recording = replay.record(lowered, grid, own, where)
        again = replay.replay_of(recording, dict(zip(names, own, strict=True)), notes=notes)
        again.run()
        if recording.fault is None:
            agree(recording, again)


def session(launcher: Any, commands: str, *given: Any, unit: Any = 0) -> str:
    """What pdb prints for these commands."""
    output = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=output, skip=["cubepy.*", "numpy.*"])
    launcher.debug(*given, unit=unit, debugger=debugger)
    return output.getvalue()


def line_of(text: str) -> int:
    lines = Path(__file__).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_leaving_the_debugger_leaves_the_launch() -> None:
    x, at, out = arguments()
    for commands in ("q\n", "n\nn\nq\n", ""):  # the end of the input is as good
        with pytest.raises(bdb.BdbQuit):
            session(wanders.over(40), commands, x, at, out, unit=6)
    session(wanders.over(40), "n\nc\n", x, at, out, unit=6)


def test_pdb_stops_in_the_users_lines_with_the_users_names() -> None:
    x, at, out = arguments()
    hot, helper = line_of("total += halved(x["), line_of("return v * 0.5")
    text = session(
        wanders.over(40),
        f"n\nn\np i\nb {hot}\nc\np k\np total\np x[6]\nb {helper}\nc\np v\nbt\ncl 1 2\nc\n",
        x, at, out, unit=6,
    )  # fmt: skip
    assert f"test_replay.py({line_of('def wanders')})wanders()" in text
    assert "-> total += halved(x[(i + k) % len(x)])" in text
    assert "np.int64(6)" in text
    assert "np.int32(0)" in text
    assert repr(x[6]) in text
    wanted = np.zeros_like(out)
    wanders.over(40)(x, at, wanted)
    assert out.tobytes() == wanted.tobytes()  # it was a launch like any other


def test_leaving_shows_the_lines_of_the_caller() -> None:
    """One line of cubepy at the end of the traceback, as errors have it, of a dozen in between."""
    x, at, out = arguments()
    with pytest.raises(bdb.BdbQuit) as caught:
        session(wanders.over(40), "q\n", x, at, out, unit=6)
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert set(files[:-1]) == {__file__}
    assert files[-1] != __file__


def test_a_helper_is_entered_with_its_parameters_by_name() -> None:
    @cb.cube
    def calls(x: Array[f32], out: Array[f32]) -> None:
        out[cb.ABSOLUTE_POS] = own_helper(x[cb.ABSOLUTE_POS])

    x = np.full(4, 5.0, np.float32)
    text = session(calls.over(4), "s\ns\na\np v\nc\n", x, x.copy())
    assert "--Call--" in text
    assert text.splitlines()[-3:-1] == ["(Pdb) v = np.float32(5.0)", "(Pdb) np.float32(5.0)"]


GAIN = 7


def own_helper(v: Any) -> Any:
    if v > 1.0:
        return v * GAIN
    return v


def test_names_around_the_kernel_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far_helper.py").write_text(
        "FAR = 11\nGAIN = 'far'\n\n\n"
        "def far(v):\n    if v > 1.0:\n        return v * FAR\n    return v\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    far = importlib.import_module("far_helper").far
    captured = 3

    @cb.cube
    def looks_around(x: Array[f32], out: Array[f32]) -> None:
        a = x[cb.ABSOLUTE_POS] * captured
        out[cb.ABSOLUTE_POS] = own_helper(a) + far(a)  # both

    asked = "p GAIN, captured\np np.float32(2) * a\np cb.ABSOLUTE_POS\np len(x)\n"
    inside = f"b {line_of('return v * GAIN')}\nb {tmp_path / 'far_helper.py'}:7\n"
    x = np.ones(4, np.float32)
    text = session(
        looks_around.over(4), f"n\nn\n{asked}{inside}c\np GAIN, v\nc\np FAR, GAIN, v\ncl 1 2\nc\n",
        x, x.copy(),
    )  # fmt: skip
    assert "(Pdb) (7, 3)\n(Pdb) np.float32(6.0)\n(Pdb) np.int64(" in text
    assert "(7, np.float32(3.0))" in text
    assert "(11, 'far', np.float32(3.0))" in text
    assert "(Pdb) 4\n" in text
    assert "NameError" not in text


def test_faults_are_replayed_up_to_where_they_are() -> None:
    @cb.cube
    def reaches(x: Array[f32], out: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        seen = x[i] * 2.0
        out[i + 30] = seen

    x = np.ones(40, np.float32)
    launcher = reaches.over(40, check="validate")
    output = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("n\nn\nn\np seen\nc\n"), stdout=output)
    with pytest.raises(OutOfBoundsError, match="out"):
        launcher.debug(x, x.copy(), unit=10, debugger=debugger)
    assert "np.float32(2.0)" in output.getvalue()


def test_debug_is_a_word_of_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[replay.Recording] = []
    monkeypatch.setattr(replay, "step_through", lambda again, recording, _: seen.append(recording))
    wanders.over(40, debug=True, unit=7)(*arguments())
    wanders.over(40, debug=True, unit=(3,))(*arguments())
    wanders.launch(*arguments(), cube_count=5, cube_dim=8, debug=True, unit=9)
    assert [each.unit for each in seen[:2]] == [(0, 7), (0, 3)]
    assert seen[2].unit == (1, 1)
    for beyond in (40, 4000, -1, (40,), (0, 1, 0), (0, 0, -1)):
        with pytest.raises(LaunchError, match=r"no unit .*: wanders\.over\(40\) has 40 × 1 × 1"):
            wanders.over(40, debug=True, unit=beyond)(*arguments())
    wrongs: list[Any] = [5.0, "5", None, (5, 0, 0, 0), (5.0,), [5]]
    for wrong in wrongs:
        with pytest.raises(CubeTypeError, match=r"unit=5; or its x, y, z: unit=\(5, 0, 0\)"):
            wanders.over(40, debug=True, unit=wrong)(*arguments())
    seven: Any = np.int64(7)
    wanders.over(40, debug=True, unit=seven)(*arguments())
    assert seen[3].unit == (0, 7)
    with pytest.raises(CubeError):
        wanders.over(40, debug=True)(1)


@cb.cube
def says_where(out: Array[i64]) -> None:
    out[cb.ABSOLUTE_POS] = cb.ABSOLUTE_POS


@pytest.mark.parametrize("shape", [300, (20, 30), (3, 5, 70)])
def test_the_number_of_a_unit_is_its_absolute_pos(shape: Any) -> None:
    units = int(np.prod(shape))
    launcher = says_where.over(shape)
    for unit in (0, 7, units // 2 + 3, units - 1):
        recording, again = replayed(launcher, unit, np.zeros(units, np.int64))
        agree(recording, again)
        assert [event.value for event in again.stored] == [unit]
    with pytest.raises(LaunchError, match=f"no unit {units}: "):
        replayed(launcher, units, np.zeros(units, np.int64))


@cb.cube
def sums_in_a_cube(x: Array[f32], out: Array[f32]) -> None:
    part = cb.shared(f32, 8)
    own = cb.local_array(f32, 2)
    u = cb.UNIT_POS
    part[u] = x[u] * 2.0
    own[1] = part[u]
    cb.sync_cube()
    other = part[7 - u]
    out[u] = other + own[1]


def test_memory_of_the_cube_shows_what_the_unit_knows_of_it() -> None:
    screen = io.StringIO()
    words = (
        "p part", "n", "n", "n", "n", "n", "n", "p part[3], own[1]", "p part[2]", "p own[0]",
        "n", "p part[3]", "n", "p part[4]", "p len(part), own", "c",
    )  # fmt: skip
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join([*words, ""])), stdout=screen)
    x = np.arange(8, dtype=np.float32)
    sums_in_a_cube[1, 8].debug(x, np.zeros(8, np.float32), unit=3, debugger=debugger)
    told = screen.getvalue()
    assert "(np.float32(6.0), np.float32(6.0))" in told
    for unknown in ("part[2] since the last barrier", "own[0]", "part[3] since the last barrier"):
        assert f"this unit has neither read nor written {unknown}" in told
    assert "np.float32(8.0)" in told
    assert "(8, <own: " in told
    assert "this unit knows [1]: 6.0>" in told


POSITIONS = sorted(name for name, value in vars(cb).items() if isinstance(value, Position))


@cb.cube
def everywhere(out: Tensor[i64]) -> None:
    at = cb.ABSOLUTE_POS
    for number in cb.unroll(range(len(VALUES))):
        out[at, number] = cb.cast(i64, VALUES[number])


VALUES = tuple(getattr(cb, name) for name in POSITIONS)


def test_positions_in_the_debugger_are_those_of_the_unit() -> None:
    assert len(POSITIONS) > 20
    size = ((2, 3, 2), (4, 2, 3))
    seen = np.full((12 * 24, len(POSITIONS)), -1, np.int64)
    launcher = everywhere.launcher(cube_count=size[0], cube_dim=size[1], device="reference")
    launcher(seen)
    for unit in (0, 7, 100, 287):
        screen = io.StringIO()
        lines = "".join(f"p int(cb.{name})\n" for name in POSITIONS)
        debugger = pdb.Pdb(stdin=io.StringIO(f"{lines}p int(HERE)\nc\n"), stdout=screen)
        launcher.debug(np.zeros_like(seen), unit=unit, debugger=debugger)
        shown = [line.removeprefix("(Pdb) ") for line in screen.getvalue().splitlines()]
        found = [int(line) for line in shown if line.isdigit()]
        place = POSITIONS.index("ABSOLUTE_POS")
        assert found == [*seen[unit], seen[unit, place]]
        assert seen[unit, place] == unit
    assert repr(cb.ABSOLUTE_POS) == "cubepy.ABSOLUTE_POS"  # elsewhere it is what it was


HERE = cb.ABSOLUTE_POS


@cb.struct
class Ray:
    origin: f32
    slope: f32

    def at(self, t: f32) -> Any:
        return self.origin + self.slope * t  # of a ray


@cb.cube
def looks_along(
    x: Array[f32], w: Vector[f32, 4], n: Comptime[int], given: Ray, out: Array[f32]
) -> None:
    i = cb.ABSOLUTE_POS
    first, second = x[i], x[i] * 2.0
    again = first
    both = (second, (first, n))
    ray = Ray(first, second)
    v: Any = w * first
    more = n + 1
    for k in range(more):
        if k == n:
            both = (both[0] + 1.0, both[1])
            v = cb.insert(v, 2, ray.at(2.0))
    low, high = 0.0, 1.0
    while low < high:
        left, right = low, high
        low, high = right, left
    for q in cb.unroll(range(n)):
        again += q * given.slope
    out[i] = again + both[0] + v[2] + ray.origin  # all of them


def test_groups_and_comptime_values_have_their_names_in_the_debugger() -> None:
    x = np.arange(8, dtype=np.float32)
    names = ["first", "second", "again", "both", "ray", "v", "w", "n", "more", "given", "q"]
    names += ["left", "right", "low", "high"]
    asked = "".join(f"p {name}\n" for name in names)
    inside = f"b {line_of('self.slope * t  # of')}\nb {line_of('# all of them')}\n"
    out = np.zeros_like(x)
    text = session(
        looks_along.over(8), f"{inside}c\np self\ncl 1\nc\n{asked}c\n",
        x, (1.0, 2.0, 3.0, 4.0), 2, Ray(1.0, 0.5), out, unit=3,
    )  # fmt: skip
    assert "NameError" not in text
    one, three, six, seven = map(repr, map(np.float32, (1, 3, 6, 7)))
    said = [line.removeprefix("(Pdb) ") for line in text.splitlines() if line.startswith("(Pdb) ")]
    shown = dict(zip(names, said[-len(names) - 1 :], strict=False))
    assert f"(Pdb) Ray(origin={three}, slope={six})\n" in text  # self
    assert shown["first"] == three
    assert shown["second"] == six
    assert shown["again"] == repr(np.float32(3.5))
    assert shown["both"] == f"({seven}, ({three}, {np.int32(2)!r}))"  # of a loop
    assert shown["ray"] == f"Ray(origin={three}, slope={six})"
    assert shown["v"] == repr(np.array([3, 6, 15, 12], np.float32))
    assert shown["w"] == repr(np.array([1, 2, 3, 4], np.float32))
    assert shown["n"] == "2"
    assert int(shown["more"].removeprefix("np.int32(").removesuffix(")")) == 3
    assert shown["given"] == f"Ray(origin={one}, slope={np.float32(0.5)!r})"
    assert shown["q"] == "1"
    assert shown["left"] == shown["high"] == repr(np.float32(0))
    assert shown["right"] == shown["low"] == one
    wanted = np.zeros_like(x)
    looks_along.over(8)(x, (1.0, 2.0, 3.0, 4.0), 2, Ray(1.0, 0.5), wanted)
    assert out.tobytes() == wanted.tobytes()


def tail_of(row: Any, k: Any) -> Any:
    rest = row[k:]
    return rest[0] + 1.0  # in the helper


@cb.cube
def looks_at_parts(t: Tensor[f32], x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    row = t[i]
    part = row[1:4]
    back = part[::-1]
    column = t[:, i]
    block = t[1:3, ::2]
    again = t
    flat = t.reshape(-1)
    square = x.reshape(2, 2)
    outside = t[i + 3]
    laid = flat.view(cb.Layout.tiled((4, 4), (2, 2)))
    inner = laid[1]
    pairs = t.vectorized(2)
    turned = t.view((4, 4), lambda a, b: (b, a))
    own = cb.local_array(f32, (2, 3))
    own[1, 0] = part[0]
    mine = own[1]
    own[1, 2] = 7.0
    several = (row, i)
    w = tail_of(part, 1)
    out[i] = w + back[0] + turned[0, 0] + outside[0] + column[0] + block[0, 0] + again[0, 0]  # all
    out[i] += square[0, 0] + inner[0] + pairs[0, 0][0] + mine[2] + several[0][0]


def test_rows_and_views_look_as_in_numpy() -> None:
    t, x = np.arange(16, dtype=np.float32).reshape(4, 4), np.arange(4, dtype=np.float32)
    tiles = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
    wanted = {
        "row": t[2], "part": t[2, 1:4], "back": t[2, 3:0:-1], "column": t[:, 2],
        "block": t[1:3, ::2], "again": t, "flat": t.reshape(-1), "square": x.reshape(2, 2),
        "laid": np.array(tiles, np.float32), "inner": np.array(tiles[1], np.float32),
        "pairs": t.reshape(4, 2, 2), "several[0]": t[2],
    }  # fmt: skip
    others = {
        "outside": "<outside of the array>",
        "turned": "<a view by a function of the kernel>",
        "mine": f"array([{np.float32(9)!r}, …, {np.float32(7)!r}], dtype=object)",
        "mine[0]": repr(np.float32(9)),
        "mine[1]": "*** LookupError: this unit has neither read nor written this element",
        "mine.shape, len(mine)": "((3,), 3)",
        "own[1, 2]": repr(np.float32(7)),
    }
    asked = [*(f"({name}).tolist()" for name in wanted), *others]
    inside = f"b {line_of('rest[0] + 1.0  # in')}\nb {line_of('again[0, 0]  # all')}\n"
    commands = "".join(f"p {each}\n" for each in asked)
    text = session(
        looks_at_parts.over(4), f"{inside}c\np rest, row\nc\n{commands}c\n",
        t, x, np.zeros(4, np.float32), unit=2,
    )  # fmt: skip
    said = [line.removeprefix("(Pdb) ") for line in text.splitlines() if line.startswith("(Pdb) ")]
    assert repr((t[2, 2:4], t[2, 1:4])) in said
    shown = dict(zip(asked, said[-len(asked) - 1 :], strict=False))
    assert {name: shown[name] for name in others} == others
    for name, value in wanted.items():
        assert shown[f"({name}).tolist()"] == repr(value.tolist()), name
