"""Cases for control flow: every unit goes its own way, and plain Python goes it one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from cubepy.ir import INTEGERS, Scalar
from cubepy.testing.cases import Case
from cubepy.testing.text_cases import buffer, text_case

__all__ = ["CONTROL_ROWS", "control_cases"]

Array = np.ndarray[Any, Any]
UNITS = 70

# Every body finds the unit's position in %i, its input in %x and a slot %sum, which is stored.
_HEAD = """
  %i: index = absolute_pos
  %x: i32 = load %input, %i [check=checked]
  %sum: slot<i32> = local [element=i32]
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %three: i32 = const 3
  %ten: i32 = const 10
  store_local %sum, %zero
"""
_TAIL = """
  %end: i32 = load_local %sum
  store %out, %i, %end [check=checked]"""


def control_cases(row: str) -> Iterator[Case]:
    """The cases of a control-flow row."""
    if row == "for":
        yield from _ranges()
    for name, (body, python, functions) in _BODIES.get(row, {}).items():
        yield _case(row, name, body, python, functions)


def _case(
    row: str, name: str, body: str, python: Callable[[int], int | None], functions: str
) -> Case:
    """`python` gives what a unit stores, None if it returns before."""
    values = (np.arange(UNITS) * 37 % 23 - 4).astype(np.int32)
    before = np.full(UNITS, -99, np.int32)
    results = [python(int(value)) for value in values]
    expected = [-99 if result is None else result for result in results]
    return text_case(
        row,
        name,
        _HEAD + body + _TAIL,
        functions=functions,
        params={"input": buffer("i32"), "out": buffer("i32")},
        arguments={"input": values, "out": before},
        expected={"out": np.array(expected, np.int32)},
        cube_dim=(35, 1, 1),
        cube_count=(2, 1, 1),
    )


def _add(name: str, value: str, indent: str = "  ") -> str:
    return f"""{indent}%old_{name}: i32 = load_local %sum
{indent}%new_{name}: i32 = add %old_{name}, {value}
{indent}store_local %sum, %new_{name}
"""


# ── if, while, block ──

_IF = f"""
  %rest: i32 = floor_mod %x, %three
  %first: bool = eq %rest, %zero
  %second: bool = eq %rest, %one
  if %first {{
{_add("a", "%ten")}
  }} else {{
    if %second {{
{_add("b", "%one")}
    }}
    %high: bool = gt %x, %ten
    if %high {{
{_add("c", "%three")}
    }} else {{
{_add("d", "%two")}
    }}
  }}"""


def _if(x: int) -> int:
    if x % 3 == 0:
        return 10
    return (1 if x % 3 == 1 else 0) + (3 if x > 10 else 2)


_WHILE = f"""
  %n: slot<i32> = local [element=i32]
  store_local %n, %x
  while {{
    %now: i32 = load_local %n
    %more: bool = gt %now, %one
    yield %more
  }} do {{
    %here: i32 = load_local %n
    %parity: i32 = floor_mod %here, %two
    %odd: bool = eq %parity, %one
    if %odd {{
      %tripled: i32 = mul %here, %three
      %next: i32 = add %tripled, %one
      store_local %n, %next
    }} else {{
      %half: i32 = floor_div %here, %two
      store_local %n, %half
    }}
{_add("a", "%one")}
  }}"""


def _while(x: int) -> int:
    steps = 0
    while x > 1:
        x = 3 * x + 1 if x % 2 else x // 2
        steps += 1
    return steps


_BLOCK = f"""
  block {{
    %low: bool = lt %x, %three
    if %low {{
{_add("a", "%one")}
      leave
    }}
    block {{
      for %zero, %x, %one (%k: i32) {{
        %far: bool = gt %k, %ten
        if %far {{
          leave
        }}
{_add("b", "%k")}
      }}
{_add("c", "%three")}
    }}
{_add("d", "%ten")}
  }}
{_add("e", "%two")}"""


def _block(x: int) -> int:
    if x < 3:
        return 3
    if x - 1 > 10:
        return sum(range(11)) + 12
    return sum(range(x)) + 15


# ── exits ──

_BREAK = f"""
  for %zero, %ten, %one (%k: i32) {{
    for %zero, %x, %two (%j: i32) {{
      %both: i32 = add %k, %j
      %stop: bool = gt %both, %ten
      if %stop {{
        break
      }}
{_add("a", "%j")}
    }}
    %same: bool = eq %k, %x
    if %same {{
{_add("b", "%ten")}
      break
    }}
{_add("c", "%one")}
  }}"""


def _break(x: int) -> int:
    total = 0
    for k in range(10):
        for j in range(0, x, 2):
            if k + j > 10:
                break
            total += j
        if k == x:
            total += 10
            break
        total += 1
    return total


_CONTINUE = f"""
  for %zero, %ten, %one (%k: i32) {{
    %sign: i32 = floor_mod %k, %three
    %skipped: bool = eq %sign, %one
    if %skipped {{
      continue
    }}
    %level: bool = lt %x, %k
    if %level {{
      %deep: bool = lt %x, %zero
      if %deep {{
        continue
      }}
{_add("a", "%ten")}
    }}
{_add("b", "%k")}
  }}"""


def _continue(x: int) -> int:
    total = 0
    for k in range(10):
        if k % 3 == 1:
            continue
        if x < k:
            if x < 0:
                continue
            total += 10
        total += k
    return total


_RETURN = f"""
  %negative: bool = lt %x, %zero
  if %negative {{
    return
  }}
  for %zero, %x, %one (%k: i32) {{
    while {{
      %sofar: i32 = load_local %sum
      %less: bool = lt %sofar, %k
      yield %less
    }} do {{
      %far: bool = gt %k, %ten
      if %far {{
        return
      }}
{_add("a", "%two")}
    }}
  }}"""


def _return(x: int) -> int | None:
    total = 0
    if x < 0:
        return None
    for k in range(x):
        while total < k:
            if k > 10:
                return None
            total += 2
    return total


# ── calls ──

_FUNCTION = """
function @parts(%a: i32, %b: i32) -> tuple<i32,bool> {
  %zero: i32 = const 0
  %yes: bool = const true
  %no: bool = const false
  %low: bool = lt %a, %zero
  if %low {
    return %b, %no
  }
  %step: i32 = const 1
  for %zero, %a, %step (%k: i32) {
    %square: i32 = mul %k, %k
    %enough: bool = ge %square, %a
    if %enough {
      return %k, %yes
    }
  }
  return %a, %no
}
function @twice(%a: i32, %to: global<i32, [1], unknown, 1>, %at: index) -> i32 {
  %first: tuple<i32,bool> = call %a, %a [callee=parts, results="i32,bool"]
  %root: i32 = tuple_get %first [index=0]
  %found: bool = tuple_get %first [index=1]
  if %found {
    store %to, %at, %root [check=checked]
    %sum: i32 = add %root, %a
    return %sum
  }
  return %root
}
"""
_CALL = """
  %got: i32 = call %x, %out, %i [callee=twice, results="i32"]
  %kept: i32 = load %out, %i [check=checked]
  %plus: i32 = add %got, %kept
  store_local %sum, %plus"""


def _call(x: int) -> int:
    def parts(a: int, b: int) -> tuple[int, bool]:
        if a < 0:
            return b, False
        for k in range(a):
            if k * k >= a:
                return k, True
        return a, False

    root, found = parts(x, x)
    return root + x + root if found else root - 99


_BODIES: Mapping[str, Mapping[str, tuple[str, Callable[[int], int | None], str]]] = {
    "if": {"nested": (_IF, _if, "")},
    "while": {"collatz": (_WHILE, _while, "")},
    "yield": {"collatz": (_WHILE, _while, "")},
    "block": {"nested": (_BLOCK, _block, "")},
    "leave": {"through a loop": (_BLOCK, _block, "")},
    "break": {"nested": (_BREAK, _break, "")},
    "continue": {"in branches": (_CONTINUE, _continue, "")},
    "return": {"from a loop": (_RETURN, _return, "")},
    "call": {"memory by reference": (_CALL, _call, _FUNCTION)},
    "tuple_get": {"of a helper": (_CALL, _call, _FUNCTION)},
}


# ── ranges ──


def _ranges() -> Iterator[Case]:
    """All kinds of bounds and steps in each integer type, up to the ends of the type."""
    for type in sorted(INTEGERS, key=str):
        triples = [triple for triple in _triples(type) if _trips(*triple) < 60]
        columns = np.array(triples, dtype=object).T
        trips = [range(*triple) for triple in triples]
        last = [trip[-1] if len(trip) else 0 for trip in trips]
        arrays = {
            name: np.array(column.tolist(), type.numpy)
            for name, column in zip(("start", "stop", "step"), columns, strict=True)
        }
        body = f"""
          %i: index = absolute_pos
          %a: {type} = load %start, %i [check=checked]
          %b: {type} = load %stop, %i [check=checked]
          %c: {type} = load %step, %i [check=checked]
          %n: slot<i32> = local [element=i32]
          %seen: slot<{type}> = local [element={type}]
          %zero: i32 = const 0
          %one: i32 = const 1
          %none: {type} = const 0
          %here: index = const {len(triples)}
          %inside: bool = lt %i, %here
          if %inside {{
            store_local %n, %zero
            store_local %seen, %none
            for %a, %b, %c (%k: {type}) {{
              %count: i32 = load_local %n
              %more: i32 = add %count, %one
              store_local %n, %more
              store_local %seen, %k
            }}
            %trips: i32 = load_local %n
            %final: {type} = load_local %seen
            store %counts, %i, %trips [check=checked]
            store %last, %i, %final [check=checked]
          }}"""
        yield text_case(
            "for",
            f"ranges of {type}",
            body,
            params={
                **{name: buffer(type.name) for name in arrays},
                "counts": buffer("i32"),
                "last": buffer(type.name),
            },
            arguments={
                **arrays,
                "counts": np.full(len(triples), -9, np.int32),
                "last": np.ones(len(triples), type.numpy),
            },
            expected={
                "counts": np.array([len(trip) for trip in trips], np.int32),
                "last": np.array(last, type.numpy),
            },
            cube_count=(-(-len(triples) // 32), 1, 1),
        )


def _trips(start: int, stop: int, step: int) -> int:
    """How many trips; `len` does not take ranges of this size."""
    return max(0, -((start - stop) // step))


def _triples(type: Scalar) -> list[tuple[int, int, int]]:
    low, high = type.minimum, type.maximum
    steps = [1, 2, 3, 50, high, high - 1] + ([-1, -2, -7, low] if low < 0 else [])
    starts = [0, 1, 5, high, high - 1, high - 20, low, low + 1, low + 20]
    stops = [0, 1, 7, 30, high, high - 1, low, low + 1, low + 30]
    return [(start, stop, step) for start in starts for stop in stops for step in steps]


CONTROL_ROWS = frozenset(_BODIES) | {"for"}
