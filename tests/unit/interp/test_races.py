"""Races that are there are found with both places; ordered accesses are none."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cubepy.errors import DataRaceError
from cubepy.interp import Reports
from cubepy.interp.batch import Batch
from cubepy.interp.clock import Clock, Shadow
from cubepy.interp.cube_races import CubeShadow
from cubepy.interp.races import LaunchShadow
from cubepy.ir import Op, ops
from cubepy.runtime import Grid
from tests.unit.interp.launching import launch

EVERYWHERE = Reports(races="all")

SHARED = """
kernel @shared(%y: global<i32, [1], write, 0>) cube_dim(8, 1, 1) {
  %t: shared<i32, [9]> = shared [element=i32, shape=(9)]
  %u: index = unit_pos
  %one: index = const 1
  %zero: index = const 0
  %n: index = add %u, %one
  %v: i32 = cast %u [to=i32]
  %first: bool = eq %u, %zero
  BODY
}
!0 = "race.py" 10:4-10:20
!1 = "race.py" 11:4-11:20
"""
FILL = "store %t, %u, %v [check=checked] !0"
READ = "%r: i32 = load %t, %n [check=checked] !1"


def shared(body: str, *, cubes: int = 2, plane_dim: int = 4, reports: Reports | None = None) -> str:
    """The report of a race in shared memory, "" if there is none."""
    quiet = reports or Reports(unwritten=False)
    try:
        launch(
            SHARED.replace("BODY", body), np.zeros(16, dtype=np.int32), cubes=cubes,
            plane_dim=plane_dim, reports=quiet,
        )  # fmt: skip
    except DataRaceError as fault:
        return str(fault)
    return ""


def test_report_names_units_values_and_both_places() -> None:
    text = shared(f"{FILL} {READ}")
    assert text == (
        "race.py:11:5: error: data race: unit 0 of cube 0 reads 1 from `t[1]`, and "
        "nothing orders that with the write of another unit\n"
        "race.py:10:5: note: unit 1 of cube 0 wrote 1 to it\n"
        "  help: put cb.sync_cube() between the two accesses, or use an atomic"
    )


def test_write_after_read_is_a_race() -> None:
    text = shared(f"sync_cube {READ} {FILL}")
    assert "unit 1 of cube 0 writes 1 to `t[1]`" in text
    assert "unit 0 of cube 0 read 0 from it" in text
    assert text.startswith("race.py:10:5")
    assert "race.py:11:5: note" in text


def test_two_stores_of_one_op_race_even_with_equal_values() -> None:
    text = shared("store %t, %zero, %v [check=checked] !0")
    assert "unit 0 of cube 0 writes 0 to `t[0]`" in text
    assert "unit 7 of cube 0 wrote 7 to it" in text
    same = "%c: i32 = const 5 store %t, %zero, %c [check=checked] !0"
    text = shared(same)
    assert "writes 5 to `t[0]`, and nothing orders that with the write" in text
    assert "unit 7 of cube 0 wrote 5 to it" in text


def test_barriers_order_and_planes_order_only_themselves() -> None:
    assert shared(f"{FILL} sync_cube {READ}") == ""
    assert shared(f"{FILL} sync_cube {READ} sync_cube {FILL}") == ""
    assert shared(f"{FILL} sync_plane {READ}", plane_dim=8) == ""
    text = shared(f"{FILL} sync_plane {READ}")
    assert "unit 3 of cube 0 reads 4 from `t[4]`" in text


def test_own_accesses_and_disjoint_ones_are_no_race() -> None:
    own = "%r: i32 = load %t, %u [check=checked] !1"
    assert shared(f"{FILL} {own} {FILL}") == ""
    assert shared(f"if %first {{ {FILL} {own} }} else {{ store %t, %u, %v [check=checked] }}") == ""
    everyone_reads = "%r: i32 = load %t, %zero [check=checked] !1"
    assert shared(f"if %first {{ {FILL} }} sync_cube {everyone_reads}") == ""
    assert "reads 0 from `t[0]`" in shared(f"if %first {{ {FILL} }} {everyone_reads}")


def test_write_after_everyone_read_is_found_whoever_read_last() -> None:
    everyone_reads = "%r: i32 = load %t, %zero [check=checked] !1"
    for unit in (0, 3, 7):
        only = f"%k: index = const {unit} %me: bool = eq %u, %k"
        write = "if %me { store %t, %zero, %v [check=checked] !0 }"
        assert "writes" in shared(f"{only} {everyone_reads} {write}")
        assert shared(f"{only} {everyone_reads} sync_cube {write}") == ""


def test_atomics_race_with_plain_accesses_only() -> None:
    update = "%a: i32 = atomic_add %t, %zero, %v [check=checked] !0"
    again = "%b: i32 = atomic_max %t, %zero, %v [check=checked] !1"
    plain = "%r: i32 = load %t, %zero [check=checked] !1"
    assert shared(f"{update} {again}") == ""
    assert shared(f"{update} sync_cube {plain}") == ""
    text = shared(f"{update} {plain}")
    assert "reads 28 from `t[0]`, and nothing orders that with the atomic update" in text
    assert re.search(r"note: unit \d of cube 0 atomically updated it", text)
    assert "atomically updates `t[0]`" in shared(f"if %first {{ {FILL} }} {update}")


def test_loops_race_across_their_trips() -> None:
    loop = """
      %four: index = const 4
      for %zero, %four, %one (%k: index) {
        store %t, %u, %v [check=checked] !0
        sync_cube
        %r: i32 = load %t, %n [check=checked] !1
        LAST
      }
    """
    assert shared(loop.replace("LAST", "sync_cube")) == ""
    assert "race.py:10:5: error" in shared(loop.replace("LAST", ""))


def test_reports_can_be_switched_off() -> None:
    assert shared(f"{FILL} {READ}", reports=Reports(races="none", unwritten=False)) == ""


GLOBAL = """
kernel @global(%x: global<i32, [?], read_write, 0>, %y: global<i32, [?], read_write, 0>,
               %d: index) cube_dim(4, 1, 1) {
  %i: index = absolute_pos
  %v: i32 = cast %i [to=i32]
  %j: index = add %i, %d
  store %x, %i, %v [check=checked] !0
  BETWEEN
  %r: i32 = load %y, %j [check=checked] !1
}
!0 = "race.py" 10:4-10:20
!1 = "race.py" 11:4-11:20
"""


def test_buffers_race_between_cubes_and_within() -> None:
    x = np.zeros(16, dtype=np.int32)
    other = np.zeros(16, dtype=np.int32)
    text = GLOBAL.replace("BETWEEN", "")
    synced = GLOBAL.replace("BETWEEN", "sync_cube")
    for kernel, distance in ((text, 1), (synced, 1), (synced, 4), (text, -3)):
        launch(kernel, x, other, distance, cubes=4, reports=EVERYWHERE)  # two buffers
        launch(kernel, x, x, distance, cubes=4)  # not asked for
        with pytest.raises(DataRaceError):
            launch(kernel, x, x, distance, cubes=4, reports=EVERYWHERE)
    launch(synced, x, x, 1, reports=EVERYWHERE)
    launch(text, x, x, 0, cubes=4, reports=EVERYWHERE)
    with pytest.raises(DataRaceError, match="cubes run in any order"):
        launch(synced, x, x, 4, cubes=4, reports=EVERYWHERE)


def test_overlapping_views_share_their_shadow() -> None:
    memory = np.zeros(40, dtype=np.int32)
    kernel = GLOBAL.replace("BETWEEN", "")
    for first, second, races in (
        (memory[:16], memory[20:36], False),
        (memory[0:32:2], memory[1:33:2], False),
        (memory[:16], memory[8:24], True),
        (memory[:16], memory[15::-1], True),
        (memory[4:20], memory[:16], True),
    ):
        if races:
            with pytest.raises(DataRaceError):
                launch(kernel, first, second, 0, cubes=4, reports=EVERYWHERE)
        else:
            launch(kernel, first, second, 0, cubes=4, reports=EVERYWHERE)


def test_bytes_of_wider_elements_race() -> None:
    kernel = """
    kernel @bytes(%x: global<i32, [1], write, 0>, %y: global<u8, [1], read, 0>, %d: index)
        cube_dim(2, 1, 1) {
      %i: index = absolute_pos
      %four: index = const 4
      %v: i32 = cast %i [to=i32]
      store %x, %i, %v [check=checked]
      %b: index = mul %i, %four
      %c: index = add %b, %d
      %r: u8 = load %y, %c [check=checked]
    }
    """
    x = np.zeros(4, dtype=np.int32)
    for distance in range(-3, 8):
        inside = 0 <= distance < 4
        if inside:
            launch(kernel, x, x.view(np.uint8), distance, cubes=2, reports=EVERYWHERE)
        else:
            with pytest.raises(DataRaceError):
                launch(kernel, x, x.view(np.uint8), distance, cubes=2, reports=EVERYWHERE)


ACCESSES = ("read", "write", "atomic", "none")
# programs whose races hide behind many harmless accesses
Program = list[tuple[list[str], list[int], str]]
OFTEN = ("none", "none", "none", "none", "read", "read", "atomic", "write")


def unordered(a: int, b: int, barriers: set[str]) -> bool:
    """Whether units of two planes of two (of one cube of four) are not ordered."""
    return not ("cube" in barriers or ("plane" in barriers and a // 2 == b // 2))


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(OFTEN), min_size=4, max_size=4),
            st.lists(st.sampled_from([0, 0, 0, 1]), min_size=4, max_size=4),
            st.sampled_from(["", "", "cube", "plane"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_random_programs_race_exactly_when_two_accesses_are_unordered(
    steps: Program,
) -> None:
    """Four units, two elements: every pair of accesses is judged by hand."""
    code = []
    for number, (kinds, places, barrier) in enumerate(steps):
        kind = " ".join(
            f"%k{number}{u}: i32 = const {ACCESSES.index(k)} " for u, k in enumerate(kinds)
        )
        cells = " ".join(f"%p{number}{u}: index = const {p} " for u, p in enumerate(places))
        body = "".join(
            f"if %is{u} {{ {access(kinds[u], f'%p{number}{u}', f'{number}{u}')} }} else {{ "
            for u in range(4)
        )
        code.append(f"{kind} {cells} {body} {'} ' * 4} {'sync_' + barrier if barrier else ''}")
    units = "".join(f"%c{u}: index = const {u} %is{u}: bool = eq %u, %c{u}\n" for u in range(4))
    kernel = f"""
    kernel @random() cube_dim(4, 1, 1) {{
      %t: shared<i32, [2]> = shared [element=i32, shape=(2)]
      %u: index = unit_pos
      %v: i32 = const 1
      {units}
      {" ".join(code)}
    }}
    """
    expected = races(steps)
    try:
        launch(kernel, plane_dim=2, reports=Reports(unwritten=False))
        found = False
    except DataRaceError:
        found = True
    assert found == expected


def access(kind: str, place: str, tag: str) -> str:
    match kind:
        case "read":
            return f"%r{tag}: i32 = load %t, {place} [check=checked]"
        case "write":
            return f"store %t, {place}, %v [check=checked]"
        case "atomic":
            return f"%r{tag}: i32 = atomic_add %t, {place}, %v [check=checked]"
    return ""


def races(steps: Program) -> bool:
    events = [
        (step, unit, kinds[unit], places[unit])
        for step, (kinds, places, _) in enumerate(steps)
        for unit in range(4)
        if kinds[unit] != "none"
    ]
    for (s, a, kind_a, place_a), (t, b, kind_b, place_b) in itertools.combinations(events, 2):
        if a == b or place_a != place_b or (kind_a == kind_b and kind_a != "write"):
            continue
        barriers = {barrier for _, _, barrier in steps[min(s, t) : max(s, t)]}
        if unordered(a, b, barriers):
            return True
    return False


def wide(batch: Batch) -> Shadow:
    return LaunchShadow(2, batch, storage=True)


def quick(batch: Batch) -> Shadow:
    return CubeShadow(2)


def found_by(make: Callable[[Batch], Shadow], program: Program, *, together: bool) -> bool:
    """The same question to a shadow alone; units come one by one, or by kind of access."""
    grid = Grid(cube_count=(1, 1, 1), extent=(4, 1, 1))
    batch = Batch(grid=grid, cube_dim=(4, 1, 1), plane_dim=2, first=0, count=1)
    clock, shadow, op = Clock(batch=batch, numbers={}), make(batch), Op(opdef=ops.LOAD)
    for kinds, places, barrier in program:
        visits = [(kinds[unit], [unit]) for unit in range(4)]
        if together:
            visits = [(k, [u for u in range(4) if kinds[u] == k]) for k in ACCESSES[:3]]
        for kind, units in visits:
            lanes = np.array(units, dtype=np.int64)
            cells = np.array(places)[lanes]
            if kind == "none" or not units:
                continue
            if shadow.visit(kind, cells, lanes, op, clock) is not None:
                return True
        clock.cubes += barrier == "cube"
        clock.planes += barrier == "plane"
    return False


@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
def test_shadow_finds_the_races_that_hide_behind_harmless_accesses(*, together: bool) -> None:
    """Several readers, barriers of both kinds, and one late writer or atomic."""
    random = np.random.default_rng(8)
    seen = [0, 0]
    for _ in range(1500):
        program: Program = [
            (
                [str(k) for k in random.choice(["none", "read"], 4)],
                [int(p) for p in random.choice([0, 0, 1], 4)],
                str(random.choice(["", "", "plane", "cube"])),
            )
            for _ in range(random.integers(1, 4))
        ]
        late = ["none"] * 4
        late[random.integers(4)] = str(random.choice(["write", "atomic"]))
        program.append((late, [0] * 4, ""))
        if random.random() < 0.3:
            program.insert(0, (late, [0] * 4, "cube"))
        expected = races(program)
        seen[expected] += 1
        assert found_by(wide, program, together=together) == expected, program
        if all(barrier != "plane" for _, _, barrier in program):
            assert found_by(quick, program, together=together) == expected, program

    assert min(seen) > 300
