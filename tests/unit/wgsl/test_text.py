"""WGSL without a device: what it says, what is refused by name, what browsers would refuse."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, compiler, f32, i32, u8
from cubepy.codegen.wgsl import verify_wgsl
from cubepy.errors import ConfigError, UniformityError, UnsupportedError
from cubepy.ir import Trait, ops
from cubepy.target import Target
from cubepy.testing import cases_of, rows

_KNOWN = Target.parse("wgsl")
# Cases have more buffers than browsers take, one for each mode.
WGSL = dataclasses.replace(_KNOWN, features=dataclasses.replace(_KNOWN.features, most_buffers=32))


@cb.cube
def saxpy(a: f32, x: Array[f32], y: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    y[i] = a * x[i] + y[i]


@cb.cube
def summed(x: Array[f32], out: Array[f32]) -> None:
    total = cb.cast(f32, 0)
    i = cb.ABSOLUTE_POS_X
    while i < len(x):
        total += x[i]
        i += cb.CUBE_COUNT_X * cb.CUBE_DIM_X
    parts = cb.shared(f32, 64)
    parts[cb.UNIT_POS] = total
    cb.sync_cube()
    k = 32
    while k > 0:
        if k > cb.UNIT_POS:
            parts[cb.UNIT_POS] += parts[cb.UNIT_POS + k]
        cb.sync_cube()
        k //= 2
    if cb.UNIT_POS == 0:
        cb.atomic_add(out, 0, parts[0])


def floats(size: int) -> Any:
    return np.zeros(size, np.float32)


def test_text_has_the_names_and_lines_of_the_kernel() -> None:
    stages = saxpy.over(8).inspect(2.0, floats(8), floats(8), target="wgsl")
    text = stages.text
    assert "fn saxpy(" in text
    (line,) = re.findall(r"// (\d+): y\[i\] = a \* x\[i\] \+ y\[i\]", text)
    here = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert here[int(line) - 1].strip() == "y[i] = a * x[i] + y[i]"
    assert "@binding(1) var<storage, read> x: array<f32>;" in text
    assert "@binding(2) var<storage, read_write> y: array<f32>;" in text
    assert "y[y_start + t] = cb_pin(launch.a * x_1) + y_1;" in text
    places = {loc.line for loc in stages.artifact.line_map.values()}
    assert int(line) in places
    with pytest.raises(UnsupportedError):
        _ = stages.asm


def test_positions_and_subscripts_are_single_words() -> None:
    text = summed[4, 64].inspect(floats(99), floats(1), target="wgsl").text
    body = text[text.index("fn summed") :]
    assert "vec2<u32>" not in body
    # loops ask for no word of the launch
    assert "while (i < x_shape_0)" in body
    assert body.index("let x_shape_0 = launch.x_shape_0;") < body.index("while")


def test_names_of_the_language_and_unicode_names_get_others() -> None:
    @cb.cube
    def let(override: Array[f32], naïve: Array[f32], größe: f32) -> None:  # noqa: PLC2401
        var = cb.ABSOLUTE_POS
        loop = override[var] * größe
        naïve[var] = loop + loop

    text = let.over(4).inspect(floats(4), floats(4), 1.0, target="wgsl").text
    assert "override_1: array<f32>" in text
    assert "naive: array<f32>" in text
    assert verify_wgsl(text) == []


def test_what_wgsl_lacks_is_refused_by_name() -> None:
    @cb.cube
    def doubled(x: Array[cb.f64]) -> None:
        x[cb.ABSOLUTE_POS] *= 2.0

    @cb.cube
    def counted(x: Array[cb.i64]) -> None:
        cb.atomic_add(x, 0, 1)

    with pytest.raises(UnsupportedError, match="no f64"):
        doubled.over(4).inspect(np.zeros(4), target="wgsl")
    with pytest.raises(UnsupportedError, match="no 64-bit atomics"):
        counted.over(4).inspect(np.zeros(4, np.int64), target="wgsl")


def test_orders_and_fences_are_refused_by_name() -> None:
    @cb.cube
    def ordered(x: Array[i32]) -> None:
        cb.atomic_add(x, 0, 1, order="acq_rel")

    @cb.cube
    def fenced(x: Array[i32]) -> None:
        x[0] = 1
        cb.fence("device")

    for kernel, feature in ((ordered, "order acq_rel"), (fenced, "fence of the device")):
        with pytest.raises(UnsupportedError, match=feature):
            kernel.over(4).inspect(np.zeros(4, np.int32), target="wgsl")


def test_too_many_buffers_and_too_much_shared_memory_are_refused() -> None:
    @cb.cube
    def many(
        a: Array[f32], b: Array[f32], c: Array[f32], d: Array[f32], e: Array[f32], f: Array[f32],
        g: Array[f32], h: Array[f32], i: Array[f32],
    ) -> None:  # fmt: skip
        at = cb.ABSOLUTE_POS
        i[at] = a[at] + b[at] + c[at] + d[at] + e[at] + f[at] + g[at] + h[at]

    with pytest.raises(UnsupportedError, match="9 storage buffers"):
        many.over(4).inspect(*(floats(4) for _ in range(9)), target="wgsl")

    @cb.cube
    def large(x: Array[f32]) -> None:
        parts = cb.shared(f32, 8192)
        parts[cb.UNIT_POS] = x[cb.UNIT_POS]
        cb.sync_cube()
        x[cb.UNIT_POS] = parts[cb.UNIT_POS + 1]

    with pytest.raises(UnsupportedError, match="32768 bytes of shared memory") as caught:
        large[1, 64].inspect(floats(64), target="wgsl")
    assert "help: share fewer elements, or use another device" in str(caught.value)

    @cb.cube
    def narrow(x: Array[u8]) -> None:
        parts = cb.shared(u8, 8192)
        parts[cb.UNIT_POS] = x[cb.UNIT_POS]
        cb.sync_cube()
        x[cb.UNIT_POS] = parts[cb.UNIT_POS + 1]

    with pytest.raises(UnsupportedError, match="help: elements of 8 and 16 bits take 4 bytes"):
        narrow[1, 64].inspect(np.zeros(64, np.uint8), target="wgsl")


def test_unknown_dialects_are_named() -> None:
    assert str(Target.parse("wgsl:naga")) == "wgsl:naga"
    with pytest.raises(ConfigError, match="no WGSL dialect 'metal'"):
        Target.parse("wgsl:metal")


# ── what browsers take ──────────────────────────────────────────────────────────────────────────


# Functions of the library are made of the same ops; a few stand for all.
ROWS = [
    row
    for row in rows()
    if not ops.BY_NAME[row].has(Trait.LIBRARY) or row in ("exp", "sin", "bit_reverse")
]


@pytest.mark.parametrize("row", ROWS)
def test_text_of_every_row_is_what_browsers_take(row: str) -> None:
    refused = 0
    cases = [case for case in cases_of(row, 32) if "f64" not in case.name][:1]
    for case in cases:
        try:
            text = compiler.finish(case.kernel, WGSL).artifact.text
        except (UnsupportedError, UniformityError):
            refused += 1
            continue
        assert [each for each in verify_wgsl(text) if "storage buffers" not in each] == []
    assert refused < len(cases) or row in REFUSED or row.startswith("plane_")


REFUSED = frozenset({"fence", "sync_plane"})


def test_kernels_that_work_together_are_what_browsers_take() -> None:
    text = summed[4, 64].inspect(floats(99), floats(1), target="wgsl").text
    assert verify_wgsl(text) == []


def planted(before: str, after: str) -> list[str]:
    text = summed[4, 64].inspect(floats(99), floats(1), target="wgsl").text
    assert before in text
    return verify_wgsl(text.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("while (k > 0)", "while (k > i32(unit))", "not every unit may reach"),
        ("var k = 32;", "var k = i32(parts[0]);", "not every unit may reach"),
        ("k = k >> 1u;", "if (unit > 3u) {\n break;\n }\nk = k >> 1u;", "not every unit may reach"),
        ("var k = 32;", "if (unit > 3u) {\n return;\n }\nvar k = 32;", "not every unit may reach"),
        ("var k = 32;", "var k = 32;\nif (unit > 3u) {\n k = 2;\n }", "not every unit may reach"),
        ("var k = 32;", "var k = 32;\nlet wide = 1lu;", "'1lu' is not WGSL's"),
        ("var k = 32;", "var k = 32;\nlet wide = u64(k);", "'u64' is not WGSL's"),
        ("var k = 32;", "var k = 32;\nlet target = k;", "'target' may not be a name"),
        ("struct Launch", "enable subgroups;\nstruct Launch", "'enable' is not WGSL's"),
    ],
)
def test_what_browsers_refuse_is_found(before: str, after: str, complaint: str) -> None:
    assert any(complaint in found for found in planted(before, after))


def test_too_many_buffers_are_found() -> None:
    line = "@group(0) @binding(1) var<storage, read> x: array<f32>;"
    text = "\n".join([line] * 9)
    assert verify_wgsl(text) == ["9 storage buffers: browsers have 8"]


def test_devices_with_doubles_get_other_functions() -> None:
    @cb.cube
    def fused(x: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        x[i] = cb.fma(x[i], x[i], x[i])

    known = Target.parse("wgsl:naga")
    doubles = dataclasses.replace(known, features=dataclasses.replace(known.features, doubles=True))
    plain, better = (
        fused.over(4).inspect(floats(4), target=target).text for target in (known, doubles)
    )
    assert "f64" not in plain
    assert "f64" in better
