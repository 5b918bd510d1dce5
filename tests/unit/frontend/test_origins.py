"""Origins: the same in every process, and another one wherever another kernel may come out."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import frontend
from cubepy.frontend.keys import comptime_key

ROOT = Path(__file__).parents[3]

SCRIPT = """
import enum
import math
from typing import Any, TypeVar
import dataclasses
import cubepy as cb
from cubepy import Array, Comptime, Float, Layout, Vector, f32, f64, i32
import numpy as np
import companion

FACTOR = 2.0
COUNT = 3
ROUNDS = 2
SHAPE = (4, 5)
HALF = np.float32(0.5)
LAYOUT = Layout.tiled((4, 4), (2, 2))
ELEMENT = f32
NAN = float("nan")
T = TypeVar("T", bound=Float)

def inner(v):
    return v + 1.0

@cb.cube
def helper(v: ELEMENT, by: f32 = 1.5, *, extra=0.25):
    return inner(v) * by + extra

def choose(v):
    return v * 7.0

def made(offset):
    def shifted(v):
        return v + offset
    return shifted

SHIFTED = made(0.5)

def kernel(x: Array[T], out: Array[T], flag: Comptime[int], function: Comptime[Any]):
    i = cb.ABSOLUTE_POS
    if i < len(out):
        v = helper(x[i]) * FACTOR + COUNT + SHAPE[1] + HALF
        v = function(v) + companion.helped(v) + companion.VALUE + SHIFTED(v)
        if flag > 1:
            v = v + f32(LAYOUT(i % 4, 1)) + math.pi
        for _ in range(ROUNDS):
            v = v * 0.5 + f32(NAN)
        out[i] = v
"""
COMPANION = """
VALUE = 1.25

def helped(v):
    return v * VALUE
"""
FROZEN = "@dataclasses.dataclass(frozen=True)\n"
CHANGES = [
    ("FACTOR = 2.0", "FACTOR = 2"),
    ("FACTOR = 2.0", "FACTOR = 2.5"),
    ("COUNT = 3", "COUNT = True"),
    ("SHAPE = (4, 5)", "SHAPE = (4, 6)"),
    ("HALF = np.float32(0.5)", "HALF = np.float64(0.5)"),
    ("LAYOUT = Layout.tiled((4, 4), (2, 2))", "LAYOUT = Layout.tiled((4, 4), (2, 4))"),
    ("LAYOUT = Layout.tiled((4, 4), (2, 2))", "LAYOUT = Layout.strided((4, 4))"),
    ("ELEMENT = f32", "ELEMENT = f64"),
    ('NAN = float("nan")', 'NAN = -float("nan")'),
    ("ROUNDS = 2", "ROUNDS = 3"),
    ("COUNT = 3", "COUNT = frozenset((3, 4))"),
    ("return v + 1.0", "return v + 2.0"),
    ("by: f32 = 1.5", "by: f32 = 2.5"),
    ("extra=0.25", "extra=0.75"),
    ("return v * 7.0", "return v * 8.0"),
    ("return v + offset", "return v - offset"),
    ("SHIFTED = made(0.5)", "SHIFTED = made(1.5)"),
    ("bound=Float", "bound=cb.Number"),
    ("flag > 1", "flag > 2"),
    ("out[i] = v", "out[i] = -v"),
    ("\nFACTOR", "\n\nFACTOR"),
]


def origin(
    folder: Path, text: str = SCRIPT, companion: str = COMPANION, *, flag: int = 3,
    **changes: Any,
) -> bytes | None:  # fmt: skip
    """The origin of the script's kernel, the script run anew."""
    (folder / "script.py").write_text(text)
    (folder / "companion.py").write_text(companion)
    sys.modules.pop("companion", None)
    sys.path.insert(0, str(folder))
    try:
        names = runpy.run_path(str(folder / "script.py"))
    finally:
        sys.path.remove(str(folder))
    source = frontend.capture(names["kernel"])
    array = np.zeros(8, changes.pop("dtype", np.float32))
    function = changes.pop("function", names["choose"])
    arguments = {"x": array, "out": array, "flag": flag, "function": function}
    options = frontend.LaunchOptions(**changes)
    return frontend.origin_of(source, frontend.specialize(source, arguments, options))


def test_the_same_text_has_the_same_origin(tmp_path: Path) -> None:
    assert origin(tmp_path) is not None
    assert origin(tmp_path) == origin(tmp_path)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[1].strip())
def test_a_change_of_what_lowering_reads_changes_the_origin(
    change: tuple[str, str], tmp_path: Path
) -> None:
    assert change[0] in SCRIPT
    changed = origin(tmp_path, SCRIPT.replace(*change, 1))
    assert changed is not None
    assert changed != origin(tmp_path)


@pytest.mark.parametrize("change", [("1.25", "1.5"), ("v * VALUE", "v / VALUE")])
def test_a_change_in_another_module_changes_the_origin(
    change: tuple[str, str], tmp_path: Path
) -> None:
    changed = origin(tmp_path, companion=COMPANION.replace(*change))
    assert changed is not None
    assert changed != origin(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"flag": 4},
        {"dtype": np.float64},
        {"function": cb.sqrt},
        {"check": "validate"},
        {"over_rank": 2},
        {"cube_dim": (32, 1, 1)},
        {"plane_dim": 8},
        {"alias": (("x", 0), ("out", 0))},
    ],
    ids=str,
)
def test_a_change_of_the_launch_changes_the_origin(change: dict[str, Any], tmp_path: Path) -> None:
    changed = origin(tmp_path, **change)
    assert changed is not None
    assert changed != origin(tmp_path)


def test_values_of_one_kind_have_origins_of_their_own() -> None:
    """Layouts of the same function too: shape and storage are in the kernel."""

    def kernel(x: cb.Array[cb.f32], layout: cb.Comptime[cb.Layout]) -> None:
        x[0] = x.view(layout)[0, 0]

    layouts = [
        make(shape, *rest)
        for shape in ((1, 8), (2, 8), (8, 8))
        for make, rest in (
            (cb.Layout.strided, ((4, 4),)), (cb.Layout.tiled, ((1, 2),)),
            (cb.Layout.swizzled, (1,)), (cb.Layout.virtual, (min,)),
        )
    ]  # fmt: skip
    source = frontend.capture(kernel)
    told = set()
    for layout in layouts:
        arguments = {"x": np.zeros(64, np.float32), "layout": layout}
        specialization = frontend.specialize(source, arguments, frontend.LaunchOptions())
        told.add(frontend.origin_of(source, specialization))
    assert len(told - {None}) == len(layouts)


NAMED = "FACTOR = typing.NamedTuple('P', [('a', int)])(2)"
# fmt: off
UNTOLD = {
    "class": "class FACTOR:\n    g = 2.0",
    "frozen class": f"{FROZEN}class FACTOR:\n    g: float = 2.0",
    "frozen instance": f"{FROZEN}class C:\n    g: float = 2.0\nFACTOR = C()",
    "struct": "@cb.struct\nclass FACTOR:\n    x: f32",
    "enum": "class FACTOR(enum.IntEnum):\n    A = 2",
    "member": "class C(enum.IntEnum):\n    A = 2\nFACTOR = C.A",
    "made class": "FACTOR = dataclasses.make_dataclass('D', ['a'], frozen=True)",
    "class that says so": "FACTOR = enum.Enum('E', {'A': 1}, module='types')",
    "named tuple": f"import typing\n{NAMED}",
    "named tuple that says so":
        "import collections\nFACTOR = collections.namedtuple('P', 'a', module='types')(2)",
    "members in a set":
        "class C(enum.Enum):\n    A = 2\n    B = 3\nFACTOR = frozenset((C.A, C.B))",
    "function with more": "def FACTOR(v):\n    return v\nFACTOR.scale = 2.0",
    "partial": "import functools\nFACTOR = functools.partial(max, 2.0)",
    "bound method":
        f"{FROZEN}class C:\n    a: float\n    def m(self, v):\n        return v\n"
        "FACTOR = C(2.0).m",
    "module": "import os\nFACTOR = (os,)",
    "function of another module": "import time\nFACTOR = time.time",
    "module by a constant one's name":
        "import types\nFACTOR = (types.ModuleType('operator.extra'),)",
    "own ufunc": "FACTOR = np.frompyfunc(abs, 1, 1)",
    "object": "FACTOR = (object(),)",
}
# fmt: on


@pytest.mark.parametrize("definition", UNTOLD.values(), ids=UNTOLD)
def test_what_may_hold_more_than_can_be_told_has_no_origin(definition: str, tmp_path: Path) -> None:
    assert origin(tmp_path, SCRIPT.replace("FACTOR = 2.0", definition)) is None


def test_small_floats_of_the_same_bits_are_told_apart(tmp_path: Path) -> None:
    """NumPy calls them all V1. Within a process they are told apart too."""
    told, keys = set(), set()
    formats = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float6_e2m3fn", "int4")
    for name in formats:
        made = f"import ml_dtypes\nFACTOR = np.array([4], np.uint8).view(ml_dtypes.{name})[0]"
        told.add(origin(tmp_path, SCRIPT.replace("FACTOR = 2.0", made)))
        keys.add(comptime_key(np.array([4], np.uint8).view(getattr(ml_dtypes, name))[0]))
    assert len(told - {None}) == len(keys) == len(formats)


KERNEL = """
import sys
sys.path.insert(0, {folder!r})
from tests.unit.frontend.test_origins import origin
from pathlib import Path
sys.stdout.buffer.write(origin(Path({folder!r})))
"""


def test_processes_agree(tmp_path: Path) -> None:
    paths = os.pathsep.join((str(ROOT), str(ROOT / "runtimes")))
    told = {
        subprocess.run(
            [sys.executable, "-c", KERNEL.format(folder=str(tmp_path))],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths},
            check=True, capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert told == {origin(tmp_path)}


# ── what lowering does besides ───────────────────────────────────────────────────────────────────


def repeatable(tmp_path: Path, statement: str, before: str = "") -> bool:
    text = (
        f"import dataclasses, time, math, os\nimport cubepy as cb\nfrom cubepy import *\n{before}\n"
        f"def kernel(out: Array[f32]):\n    i = cb.ABSOLUTE_POS\n    if i < len(out):\n"
        f"        {statement}\n        out[i] = v\n"
    )
    names = cb.exec(text, {})
    source = frontend.capture(names["kernel"])
    arguments = {"out": np.zeros(4, np.float32)}
    specialization = frontend.specialize(source, arguments, frontend.LaunchOptions())
    return frontend.lower_and_tell(source, specialization).repeatable


CLASS = f"{FROZEN}class C:\n    "


@pytest.mark.parametrize(
    ("statement", "before", "expected"),
    [
        ("v = 1.0", "", True),
        ("v = math.sqrt(2.0) + 3 * 4", "", True),
        ("v = cb.comptime(math.sin(2.0)) + len((1, 2)) + max(1.0, 2.0)", "", True),
        ("v = cb.comptime(time.time() * 0.0)", "", False),
        ("v = cb.comptime(f())", "def f():\n    return 1.0", False),
        ("v = cb.comptime(sum([j for j in range(4)]))", "", False),
        ("v = S.value", f"{CLASS}value: float\nS = C(1.0)", True),
        (
            "v = S.value",
            f"{CLASS}@property\n    def value(self): return os.getpid()\nS = C()",
            False,
        ),
        ("v = f32(S == S)", f"{CLASS}def __eq__(self, other): return os.getpid()\nS = C()", False),
        ("v = 1.0\n        cb.static_print('seen')", "", False),
    ],
)
def test_lowering_tells_what_depends_on_more_than_the_origin(
    statement: str, before: str, expected: bool, tmp_path: Path,  # noqa: FBT001
) -> None:  # fmt: skip
    assert repeatable(tmp_path, statement, before) is expected


def test_a_kernel_that_is_warned_of_is_lowered_again(tmp_path: Path) -> None:
    names = cb.exec(
        "import cubepy as cb\nfrom cubepy import Array, f32\n"
        "def kernel(out: Array[f32]):\n    i = cb.ABSOLUTE_POS\n    v = out[i] + 1.0\n",
        {},
    )
    source = frontend.capture(names["kernel"])
    arguments = {"out": np.zeros(4, np.float32)}
    specialization = frontend.specialize(source, arguments, frontend.LaunchOptions())
    with pytest.warns(cb.errors.CubeWarning):
        assert not frontend.lower_and_tell(source, specialization).repeatable
