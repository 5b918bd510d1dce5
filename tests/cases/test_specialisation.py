"""Cases 70 to 87: what a kernel is compiled for, what is remembered, and the front end's manners.

The stores behind 72 to 78 are tested in `tests/unit/test_cache.py`, `test_warm_start.py` and
`tests/unit/cpu/test_threads.py`; the places of 82 in `test_source_places.py`.
"""

from __future__ import annotations

import enum
import gc
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32, i32
from cubepy.errors import CubeNameError, CubeSyntaxError, CubeTypeError
from tests.cases.running import DEVICES

SCALE = 2.0


def launched(kernel: Any, type: Any = np.float32, size: int = 3, **more: Any) -> list[Any]:
    out = np.zeros(size, type)
    kernel.over(size, device="reference")(out, **more)
    return [value.item() for value in out]


def test_case_70_one_kernel_serves_each_type_with_its_own_code() -> None:
    @cb.cube
    def halve(x, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        out[i] = x[i] - 1

    for device in DEVICES:
        for type in (np.uint8, np.int64, np.float32, np.float64, np.uint8, np.float16):
            x, out = np.zeros(2, type), np.ones(2, type)
            halve.over(2, device=device)(x, out)
            assert out[0] == (255 if type is np.uint8 else -1), type


def test_case_71_changed_globals_and_helpers_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @cb.cube
    def kernel(out: Array[f32]) -> None:
        out[cb.ABSOLUTE_POS] = helper(SCALE)

    assert launched(kernel) == [3] * 3
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert launched(kernel) == [6] * 3
    monkeypatch.setitem(globals(), "helper", lambda v: v * 10.0)
    assert launched(kernel) == [50] * 3


def helper(v: Any) -> Any:
    return v + 1.0


PROGRAM = """
import numpy as np, cubepy as cb, shapes

@cb.cube
def kernel(x, k=shapes.DEFAULT):
    f = getattr(shapes, shapes.CHOICE)
    x[cb.ABSOLUTE_POS] = shapes.helper(3.0) + shapes.OFFSET + k

x = np.zeros(1, np.float32)
kernel.over(1)(x)
print(x[0])
"""


def test_case_72_edits_in_another_module_reach_the_next_process(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace(
        "    f = getattr(shapes, shapes.CHOICE)\n", ""), encoding="utf-8")  # fmt: skip
    base = "DEFAULT = 0.5\nOFFSET = 1.0\ndef helper(v):\n    return v * 2.0\n"
    versions = {base: "7.5", base.replace("1.0", "2.0"): "8.5", base.replace("* 2.0", "+ 2.0"):
                "6.5", base.replace("0.5", "0.25"): "7.25"}  # fmt: skip
    for text, expected in [*versions.items(), (base, "7.5")]:
        (tmp_path / "shapes.py").write_text(text, encoding="utf-8")
        shown = subprocess.run(
            [sys.executable, "-B", "program.py"], cwd=tmp_path, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert shown.stdout.strip() == expected, shown.stderr


def test_case_74_specialisations_hold_no_addresses() -> None:
    @cb.cube
    def kernel(x: Array[f32], function: Comptime[Any]) -> None:
        x[0] = function(x[0])

    x = np.zeros(1, np.float32)
    first = kernel.inspect(x, lambda v: v + 1.0, target="cpu:x86-64-v3")
    second = kernel.inspect(x, lambda v: v + 1.0, target="cpu:x86-64-v3")
    assert first.ir == second.ir
    assert first.text == second.text
    assert "0x7f" not in first.ir


def test_case_76_threads_compile_the_same_and_other_kernels_at_once() -> None:
    kernels = [kernel_of(number) for number in range(4)]
    results: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        results[number] = launched(kernels[number % 4])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [float(number % 4)] * 3 for number in range(12)}


def kernel_of(number: float) -> Any:
    @cb.cube
    def kernel(out: Array[f32]) -> None:
        out[cb.ABSOLUTE_POS] = number

    return kernel


def test_case_79_kernels_made_again_and_again_leave_nothing() -> None:
    def make() -> Any:
        return kernel_of(1.5)

    for _ in range(20):
        make()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(500):
        make()
    gc.collect()
    assert len(gc.get_objects()) - before < 2_000


def test_case_80_kernels_of_one_name_do_not_collide() -> None:
    kernels = [kernel_of(number) for number in (1.0, 2.0, 3.0)]
    assert [launched(kernel)[0] for kernel in kernels * 2] == [1, 2, 3, 1, 2, 3]


def test_case_81_a_failed_compilation_leaves_the_compiler_usable() -> None:
    @cb.cube
    def kernel(out: Array[f32], kind: Comptime[int]) -> None:
        out[0] = 1.0 if kind == 0 else missing  # type: ignore[name-defined]  # noqa: F821

    for _ in range(3):
        with pytest.raises(CubeNameError, match="'missing' is not defined"):
            launched(kernel, size=1, kind=1)
        assert launched(kernel, size=1, kind=0)[0] == 1


def test_case_83_annotations_in_every_spelling() -> None:
    names: dict[str, Any] = {}
    text = textwrap.dedent(
        """
        from __future__ import annotations
        from typing import Annotated
        import cubepy as cb
        from cubepy import Array, f32

        @cb.cube
        def kernel(out: "Array[f32]", a: float, b: int, c: "bool", *, d: cb.f64 = 1) -> None:
            out[0] = a + cb.f32(b) + (0.5 if c else 0.0) + cb.f32(d)

        @cb.cube
        def wrong(out: Array[f32]) -> f32:
            out[0] = 1.0

        @cb.cube
        def either(out: Array[f32] | None) -> None:
            out[0] = 1.0
        """
    )
    cb.exec(text, names)
    assert launched(names["kernel"], size=1, a=1.5, b=2, c=True)[0] == 5
    with pytest.raises(CubeTypeError, match="wrong is annotated to return f32"):
        launched(names["wrong"])
    with pytest.raises(CubeTypeError, match="an annotation that kernels do not have"):
        launched(names["either"])


def test_case_84_arguments_by_position_keyword_and_default() -> None:
    @cb.cube
    def kernel(out: Array[i32], a: i32, b: i32 = 20, *, c: i32 = 300, D: Comptime[int] = 4) -> None:
        out[0] = a + b + c + D

    def value(*arguments: Any, **keywords: Any) -> int:
        out = np.zeros(1, np.int32)
        launcher = kernel.over(1, device="reference")
        if arguments:
            launcher(out, *arguments, **keywords)
        else:
            launcher(out=out, **keywords)
        return int(out[0])

    assert value(1) == 325
    assert value(a=1, D=5, b=2, c=3) == 11
    assert value(1, c=0, b=0) == 5

    @cb.cube
    def starred(*arrays: Any) -> None:
        arrays[0][0] = 1

    with pytest.raises(CubeTypeError, match=r"has a parameter \*arrays"):
        starred.over(1)(np.zeros(1, np.float32))


def inner(v: Any) -> Any:
    return undefined_thing + v  # type: ignore[name-defined]  # noqa: F821


def outer(v: Any) -> Any:
    return inner(v) * 2.0


def test_case_85_errors_inside_helpers_show_the_chain_of_calls() -> None:
    @cb.cube
    def kernel(out: Array[f32]) -> None:
        out[0] = outer(out[1])

    with pytest.raises(CubeNameError) as caught:
        launched(kernel)
    text = str(caught.value)
    assert f"{__file__}:{inner.__code__.co_firstlineno + 1}:12: error: 'undefined_thing'" in text
    assert "note: called from here in outer" in text
    assert "note: called from here in kernel" in text
    assert text.count("^^^") >= 3


class Level(enum.IntEnum):
    LOW = 3
    HIGH = 2**31


class Flags(enum.IntFlag):
    A = 1
    B = 4


BIG = np.uint64(2**63 + 5)
HALF = np.float16(0.1)


def test_case_86_enums_and_numpy_constants_keep_their_exact_value() -> None:
    @cb.cube
    def kernel(out: Array[cb.u64], real: Array[cb.f64]) -> None:
        out[0] = Level.LOW
        out[1] = Level.HIGH
        out[2] = Flags.A | Flags.B
        out[3] = BIG
        real[0] = HALF

    for device in DEVICES:
        out, real = np.zeros(4, np.uint64), np.zeros(1)
        kernel.over(1, device=device)(out, real)
        assert out.tolist() == [3, 2**31, 5, 2**63 + 5]
        assert real[0] == float(HALF)


@pytest.mark.parametrize("device", DEVICES)
def test_case_87_print_of_every_kind(device: str, capfd: pytest.CaptureFixture[str]) -> None:
    @cb.cube
    def kernel(a: Array[cb.i8], b: Array[cb.u64], t: Array[bool], h: Array[cb.f16]) -> None:
        print(a[0], b[0], t[0], h[0])

    kernel.over(1, device=device)(
        np.array([-128], np.int8), np.array([2**64 - 1], np.uint64), np.array([True]),
        np.array([0.5], np.float16),
    )  # fmt: skip
    assert capfd.readouterr().out.split() == ["-128", str(2**64 - 1), "True", "0.5"]


def test_what_no_kernel_has_is_refused_in_words() -> None:
    with pytest.raises(CubeSyntaxError, match="is no Python function"):
        cb.cube(len)
