"""Control flow of the machine against the same program in Python, one unit after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cubepy.errors import NoProgressError, ReferenceFault
from cubepy.ir import SCALARS
from tests.unit.interp.launching import launch

HEAD = """
FUNCTIONS
kernel @control(%x: global<i32, [1], read, 0>, %y: global<i32, [1], write, 1>)
    cube_dim(5, 1, 1) {
  %i: index = absolute_pos
  %v: i32 = load %x, %i [check=checked]
  %0: i32 = const 0
  %1: i32 = const 1
  %2: i32 = const 2
  %3: i32 = const 3
  %5: i32 = const 5
  %9: i32 = const 9
  %s: slot<i32> = local [element=i32]
  store_local %s, %0
BODY
  %r: i32 = load_local %s
  store %y, %i, %r [check=checked]
}
"""
COUNT = 40


def results(body: str, functions: str = "") -> list[int]:
    """What the kernel computes for x = -8 … 31, alone and with cubes side by side."""
    x = np.arange(COUNT, dtype=np.int32) - 8
    text = HEAD.replace("BODY", body).replace("FUNCTIONS", functions)
    out = np.full(COUNT, -99, dtype=np.int32)
    launch(text, x, out, cubes=COUNT // 5)
    single = np.full(COUNT, -99, dtype=np.int32)
    launch(text.replace("cube_dim(5", f"cube_dim({COUNT}"), x, single)
    assert single.tolist() == out.tolist()
    return out.tolist()


def bump(slot: str, amount: str, tag: str) -> str:
    """`slot += amount`."""
    return f"""
    %l{tag}: i32 = load_local {slot}
    %b{tag}: i32 = add %l{tag}, {amount}
    store_local {slot}, %b{tag}"""


def nested(v: int) -> int:
    s = 0
    for k in range(v):
        if k == 3:
            continue
        for j in range(k, 9, 2):
            if j == v:
                break
            s += j
        if k > 5:
            break
        s += 1
    return s


NESTED = f"""
  for %0, %v, %1 (%k: i32) {{
    %three: bool = eq %k, %3
    if %three {{ continue }}
    for %k, %9, %2 (%j: i32) {{
      %same: bool = eq %j, %v
      if %same {{ break }}
      {bump("%s", "%j", "a")}
    }}
    %beyond: bool = gt %k, %5
    if %beyond {{ break }}
    {bump("%s", "%1", "b")}
  }}
"""


def early(v: int) -> int:
    if v < 0:
        return -99
    s = 0
    k = 0
    while k * k < v:
        if k == 4:
            return -99
        k += 1
        if k % 2:
            continue
        s += k
    return s


EARLY = f"""
  %k: slot<i32> = local [element=i32]
  store_local %k, %0
  %negative: bool = lt %v, %0
  if %negative {{ return }}
  while {{
    %a: i32 = load_local %k
    %aa: i32 = mul %a, %a
    %more: bool = lt %aa, %v
    yield %more
  }} do {{
    %four: i32 = const 4
    %c: i32 = load_local %k
    %is4: bool = eq %c, %four
    if %is4 {{ return }}
    {bump("%k", "%1", "k")}
    %odd: i32 = floor_mod %bk, %2
    %isodd: bool = eq %odd, %1
    if %isodd {{ continue }}
    {bump("%s", "%bk", "s")}
  }}
"""


def blocks(v: int) -> int:
    s = 0
    for k in range(3):
        s += 1  # inside the block
        if v % 3 == k:
            continue  # leave
        if v > 20:
            break  # the loop, from inside a block
        s += 5
    return s


BLOCKS = f"""
  for %0, %3, %1 (%k: i32) {{
    block {{
      {bump("%s", "%1", "a")}
      %m: i32 = floor_mod %v, %3
      %same: bool = eq %m, %k
      if %same {{ leave }}
      %twenty: i32 = const 20
      %large: bool = gt %v, %twenty
      if %large {{ break }}
      {bump("%s", "%5", "b")}
    }}
  }}
"""


def helper(v: int) -> tuple[int, int]:
    for k in range(v):
        if k * 3 > v:
            return k, v
    return -1, 2 * v


def calls(v: int) -> int:
    s = 0
    for _ in range(2):
        if v < 5:
            a, b = helper(v)
            s += a * 9 + b
        else:
            a, b = helper(s)
            s += a * 2 + b + v
            if v > 25:
                continue
            s += 1
    return s


HELPER = """
function @helper(%v: i32) -> tuple<i32,i32> {
  %0: i32 = const 0
  %1: i32 = const 1
  %2: i32 = const 2
  %3: i32 = const 3
  for %0, %v, %1 (%k: i32) {
    %t: i32 = mul %k, %3
    %beyond: bool = gt %t, %v
    if %beyond { return %k, %v }
  }
  %m: i32 = const -1
  %d: i32 = mul %v, %2
  return %m, %d
}
"""
CALLS = f"""
  for %0, %2, %1 (%k: i32) {{
    %small: bool = lt %v, %5
    if %small {{
      %t: tuple<i32,i32> = call %v [callee=helper, results="i32,i32"]
      %a: i32 = tuple_get %t [index=0]
      %b: i32 = tuple_get %t [index=1]
      %a9: i32 = mul %a, %9
      %ab: i32 = add %a9, %b
      {bump("%s", "%ab", "x")}
    }} else {{
      %old: i32 = load_local %s
      %u: tuple<i32,i32> = call %old [callee=helper, results="i32,i32"]
      %c: i32 = tuple_get %u [index=0]
      %d: i32 = tuple_get %u [index=1]
      %c2: i32 = mul %c, %2
      %cd: i32 = add %c2, %d
      %cdv: i32 = add %cd, %v
      {bump("%s", "%cdv", "y")}
      %limit: i32 = const 25
      %beyond: bool = gt %v, %limit
      if %beyond {{ continue }}
      {bump("%s", "%1", "z")}
    }}
  }}
"""


@pytest.mark.parametrize(
    ("body", "functions", "witness"),
    [(NESTED, "", nested), (EARLY, "", early), (BLOCKS, "", blocks), (CALLS, HELPER, calls)],
    ids=["nested", "early", "blocks", "calls"],
)
def test_every_unit_follows_its_own_path(
    body: str, functions: str, witness: Callable[[int], int]
) -> None:
    assert results(body, functions) == [witness(v) for v in range(-8, COUNT - 8)]


def test_functions_take_memory_by_reference() -> None:
    functions = """
    function @swap(%m: private<i32, [2]>, %a: index, %b: index) -> void {
      %x: i32 = load %m, %a [check=checked]
      %y: i32 = load %m, %b [check=checked]
      %same: bool = eq %x, %y
      if %same { return }
      store %m, %a, %y [check=checked]
      store %m, %b, %x [check=checked]
    }
    function @twice(%m: private<i32, [2]>, %a: index, %b: index) -> i32 {
      call %m, %a, %b [callee=swap, results=""]
      %v: i32 = load %m, %a [check=checked]
      call %m, %a, %b [callee=swap, results=""]
      return %v
    }
    """
    body = """
      %p: private<i32, [2]> = local_array [element=i32, shape=(2)]
      %z: index = const 0
      %o: index = const 1
      store %p, %z, %v [check=checked]
      store %p, %o, %5 [check=checked]
      %t: i32 = call %p, %z, %o [callee=twice, results="i32"]
      call %p, %z, %o [callee=swap, results=""]
      %w: i32 = load %p, %o [check=checked]
      %nine: i32 = mul %w, %9
      %both: i32 = add %nine, %t
      store_local %s, %both
    """
    assert results(body, functions) == [9 * v + 5 for v in range(-8, COUNT - 8)]


RANGE = """
kernel @range(%a: global<{type}, [1], read, 0>, %b: global<{type}, [1], read, 0>,
              %c: global<{type}, [1], read, 0>, %n: global<i32, [1], write, 1>,
              %last: global<{type}, [1], read_write, 2>) cube_dim({units}, 1, 1) {{
  %i: index = absolute_pos
  %j: index = {subscript}
  %start: {type} = load %a, %j [check=checked]
  %stop: {type} = load %b, %j [check=checked]
  %step: {type} = load %c, %j [check=checked]
  %count: slot<i32> = local [element=i32]
  %0: i32 = const 0
  %1: i32 = const 1
  store_local %count, %0
  for %start, %stop, %step (%k: {type}) {{
    %o: i32 = load_local %count
    %p: i32 = add %o, %1
    store_local %count, %p
    store %last, %i, %k [check=checked]
  }}
  %r: i32 = load_local %count
  store %n, %i, %r [check=checked]
}}
"""


@pytest.mark.parametrize("type", ["i8", "u8", "i32", "u32", "i64", "u64", "index"])
def test_range_is_pythons_at_the_ends_of_the_type(type: str) -> None:
    scalar = SCALARS[type]
    low, high = scalar.minimum, scalar.maximum
    ranges = [(low, low + 5, 2), (high - 5, high, 2), (high - 4, high, 3), (low, high, high // 2)]
    ranges += [(0, 10, 3), (5, 5, 1), (6, 5, 1), (0, high, high), (1, high, high)]
    if scalar.is_signed:
        ranges += [(high, high - 5, -2), (low + 5, low, -2), (low + 4, low, -3), (high, low, low)]
        ranges += [(10, 0, -3), (5, 6, -1), (0, low, low), (-1, low, low), (high, low, -high)]
    expected = [range(*numbers) for numbers in ranges]
    columns = [np.array(c, dtype=scalar.numpy) for c in zip(*ranges, strict=True)]
    count, last = np.zeros(len(ranges), dtype=np.int32), np.zeros(len(ranges), dtype=scalar.numpy)
    text = RANGE.format(type=type, units=len(ranges), subscript="absolute_pos")
    launch(text, *columns, count, last)
    assert count.tolist() == [len(r) for r in expected]
    assert last.tolist() == [r[-1] if len(r) else 0 for r in expected]
    for place, spelled in enumerate(expected):  # with bounds that are the same in every unit
        single = [column[place : place + 1] for column in columns]
        count, last = np.zeros(3, dtype=np.int32), np.zeros(3, dtype=scalar.numpy)
        launch(RANGE.format(type=type, units=3, subscript="const 0"), *single, count, last)
        assert count.tolist() == [len(spelled)] * 3
        assert last.tolist() == [spelled[-1] if len(spelled) else 0] * 3


@pytest.mark.parametrize("subscript", ["absolute_pos", "const 0"])
def test_a_step_of_zero_is_a_fault(subscript: str) -> None:
    step = np.array([0 if subscript == "const 0" else 1, 2, 0, -1, 0])
    columns = [np.full(5, 3), np.full(5, 9), step]
    count, last = np.zeros(5, np.int32), np.zeros(5, np.int64)
    with pytest.raises(ReferenceFault, match="the step of range is 0 in unit") as caught:
        launch(RANGE.format(type="i64", units=5, subscript=subscript), *columns, count, last)
    assert f"unit {0 if subscript == 'const 0' else 2} of" in str(caught.value)


SPIN = """
kernel @spin(%flag: global<i32, [1], read_write, 0>) cube_dim({units}, 1, 1) {{
  %u: index = absolute_pos
  %z: index = const 0
  %0: i32 = const 0
  %1: i32 = const 1
  %v: slot<i32> = local [element=i32]
  {before}
  while !0 {{
    %old: i32 = atomic_or_ %flag, %z, %0 [check=checked]
    store_local %v, %old
    %now: i32 = load_local %v
    %wait: bool = eq %now, %0
    yield %wait
  }} do {{
    {body}
  }}
  %r: i32 = atomic_add %flag, %z, %1 [check=checked]
}}
!0 = "spin.py" 4:4-4:20
"""


def spin(units: int, before: str = "", body: str = "", start: int = 0, cubes: int = 1) -> int:
    flag = np.array([start], dtype=np.int32)
    launch(SPIN.format(units=units, before=before, body=body), flag, cubes=cubes)
    return int(flag[0])


def test_waiting_without_end_is_reported() -> None:
    with pytest.raises(NoProgressError) as caught:
        spin(4)
    assert str(caught.value).startswith(
        "spin.py:4:5: error: no progress: unit 0 of cube 0 and 3 other units go "
        "round this loop, and nothing changes any more"
    )
    with pytest.raises(NoProgressError):
        spin(4, body="%n: bool = eq %u, %z if %n { } else { continue }")


def test_units_of_one_cube_do_not_run_while_another_waits() -> None:
    """All but unit 0 wait; it has left the loop, but cannot go on alone to set the flag."""
    first = "%n: bool = eq %u, %z if %n { break }"
    with pytest.raises(NoProgressError, match=r"2 other units go .*; unit 0 of"):
        spin(4, body=first)


def test_waiting_for_a_cube_before_is_progress() -> None:
    """Cubes run in order when they talk by atomics: each adds one and finds the flag set."""
    assert spin(1, start=1, cubes=5) == 6
    before = "%n: bool = eq %u, %z if %n { %s: i32 = atomic_add %flag, %z, %1 [check=checked] }"
    assert spin(1, before=before, cubes=5) == 6


def test_a_long_loop_that_works_is_no_wait() -> None:
    body = """
      %limit: i32 = const 3000
      while {
        %l: i32 = load_local %s
        %more: bool = lt %l, %limit
        yield %more
      } do {
        %n: i32 = add %l2, %1
        store_local %s, %n
      }
    """.replace("%n: i32", "%l2: i32 = load_local %s\n%n: i32")
    assert results(body) == [3000] * COUNT


def test_values_of_inactive_units_are_not_touched() -> None:
    """A slot assigned under a condition keeps what it had elsewhere, also when cubes differ."""
    body = """
      %big: bool = gt %v, %9
      if %big {
        store_local %s, %v
        %c: index = cube_pos
        %odd: index = const 2
        %m: index = floor_mod %c, %odd
        %zero: index = const 0
        %even: bool = eq %m, %zero
        if %even { store_local %s, %3 } else { }
      } else {
        %neg: bool = lt %v, %0
        if %neg { store_local %s, %1 }
      }
    """
    x = range(-8, COUNT - 8)
    cubes = [i // 5 for i in range(COUNT)]
    text = HEAD.replace("BODY", body).replace("FUNCTIONS", "")
    out = np.zeros(COUNT, dtype=np.int32)
    launch(text, np.array(x, dtype=np.int32), out, cubes=COUNT // 5)
    expected: list[Any] = [
        (3 if c % 2 == 0 else v) if v > 9 else 1 if v < 0 else 0
        for v, c in zip(x, cubes, strict=True)
    ]
    assert out.tolist() == expected
