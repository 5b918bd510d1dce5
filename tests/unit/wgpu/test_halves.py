"""f16 on a wgpu device, by its own conversions and in arrays of halves where its probe found them,
by integers and in words elsewhere: the same values, and neighbours survive.
"""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f16, f32, u16
from cubepy.runtime import TargetedDevice, device
from cubepy_wgpu import halves_probe
from tests.same_bits import same_bits, same_on_both
from tests.wgpu_devices import NAME, needs_wgpu, wgpu_with, wrong_answers_are_found

pytestmark = needs_wgpu
Numbers = np.ndarray[Any, np.dtype[Any]]
WAYS = ("as found", "in words", "by integers", "neither")


def on(way: str) -> TargetedDevice:
    """The device, or one whose probe found less."""
    found = device(NAME).target.features
    return wgpu_with(
        halves=found.halves and way in ("as found", "by integers"),
        half_conversion=found.half_conversion and way in ("as found", "in words"),
    )


def halves(count: int, seed: int) -> Numbers:
    """Ordinary numbers, any bits, special values."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 1 << 16, count, dtype=np.uint16).view(np.float16)
    near = (random.normal(size=count) * 2.0 ** random.integers(-16, 14, count)).astype(np.float16)
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 6e-8, 65504.0], np.float16)
    return random.permutation(np.concatenate([bits, near, random.choice(special, count)]))


@cb.cube
def tempting(x: Array[f16], y: Array[f16], z: Array[f32], out: cb.Tensor[f16]) -> None:
    """What compilers of shaders rewrite, and every way to a half."""
    i = cb.ABSOLUTE_POS
    a, b = x[i], y[i]
    out[0, i] = (a + b) - a
    out[1, i] = a * 0.0 + a / a
    out[2, i] = a * 3.0 * 5.0
    out[3, i] = a * b + a
    out[4, i] = cb.fma(a, b, a)
    out[5, i] = a / b + cb.sqrt(abs(a)) * 1.0
    out[6, i] = a % b
    out[7, i] = max(min(a, b), -a)
    out[8, i] = z[i]
    out[9, i] = f16(z[i]) * b
    out[10, i] = f16(f32(a) * f32(b))
    out[11, i] = cb.select(a < b, a, b)
    out[12, i] = (a + 1536.0) - 1536.0


@pytest.mark.parametrize("way", WAYS)
def test_halves_have_the_values_of_the_reference(way: str) -> None:
    x, y = halves(500, 1), halves(500, 2)
    random = np.random.default_rng(3)
    z = random.integers(0, 1 << 32, x.size, dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        z[::2] = (x[::2].astype(np.float32) + y[::2].astype(np.float32)) / np.float32(2)
    same_on_both(tempting, [x, y, z], [np.zeros((13, x.size), np.float16)], on(way))


@cb.cube
def scattered(x: Array[f16], step: cb.i32, out: Array[f16]) -> None:
    i = cb.ABSOLUTE_POS
    out[i * step] = x[i] + 1.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("step", [1, 2, 3])
def test_neighbours_survive_in_views_of_any_stride(way: str, step: int) -> None:
    results = []
    for where in (device("reference"), on(way)):
        memory = np.arange(301, dtype=np.float16)
        source = np.linspace(-2, 2, 150).astype(np.float16)
        scattered.over(60, device=where)(source[::-2][3:], step, memory[1::2])
        scattered.over(150, device=where)(source, step, memory[7:100])  # some of it outside
        results.append(memory)
    np.testing.assert_array_equal(results[0], results[1])


@cb.cube
def shared_by_types(x: Array[f16], bits: Array[u16], out: Array[f16]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = x[i] * 2.0
    bits[i] = bits[i] ^ 0x8000
    out[i] += x[i]


def test_halves_seen_as_integers_are_in_words() -> None:
    results = []
    for where in (device("reference"), device(NAME)):
        x, out = halves(100, 5), np.zeros(300, np.float16)
        shared_by_types.over(300, device=where)(x, x.view(np.uint16), out)
        results.append(out)
    assert same_bits(results[1], results[0]).all()


@cb.cube
def summed(x: Array[f16], total: Array[f16]) -> None:
    cb.atomic_add(total, 1, x[cb.ABSOLUTE_POS])


def test_atomics_of_halves_stay() -> None:
    total = np.array([3.0, 0.0, 5.0], np.float16)
    summed.over(700, device=NAME)(np.ones(700, np.float16), total)
    assert total.tolist() == [3.0, 700.0, 5.0]


@cb.cube
def looked_at(x: Array[f16], bits: Array[u16]) -> None:
    i = cb.ABSOLUTE_POS
    bits[i] = cb.bitcast(u16, x[i])


def test_whoever_looks_at_bits_gets_them() -> None:
    x = np.arange(1 << 16, dtype=np.uint16)
    bits = np.zeros_like(x)
    looked_at.over(x.size, device=NAME)(x.view(np.float16), bits)
    np.testing.assert_array_equal(bits, x)


@cb.cube
def doubled(x: Array[f16]) -> None:
    x[cb.ABSOLUTE_POS] *= 2.0


def test_text_has_arrays_of_halves_only_for_devices_that_have_them() -> None:
    x = np.zeros(4, np.float16)
    plain = doubled.over(4).inspect(x, target="wgsl").text
    assert "f16>" not in plain
    assert "pack2x16float" not in plain
    if not device(NAME).target.features.halves:
        pytest.skip("the device has no arrays of halves that convert as they should")
    text = doubled.over(4).inspect(x, target=device(NAME).target).text
    assert text.index("enable f16;") < text.index("array<f16>")
    assert "atomic" not in text


# ── the probe ───────────────────────────────────────────────────────────────────────────────────

MISTAKES = {
    "_CONVERSIONS": (
        (
            "vec2<f32>(value, 0.0)",
            "vec2<f32>(bitcast<f32>(bitcast<u32>(value) & 0xffffe000u), 0.0)",
        ),
        ("half(wide(sum) - x)", "half(x + wide(b[i ^ 1u]) - x)"),
        ("bitcast<u32>(wide(half(a[i])))", "bitcast<u32>(a[i])"),
        ("bitcast<u32>(x);", "bitcast<u32>(select(x, 0.0, abs(x) < 0.00006));"),
    ),
    "_ARRAYS": (
        ("= f16(b[i])", "= f16(b[i] * 0.999)"),
        ("= f32(a[i])", "= f32(a[i]) * 1.001"),
        ("(i & 1u) == 0u", "true"),
    ),
}


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [(name, *pair) for name, pairs in MISTAKES.items() for pair in pairs],
)
def test_a_device_with_wrong_answers_is_found_out(
    name: str, right: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = {"_CONVERSIONS": "half_conversion", "_ARRAYS": "halves"}[name]
    wrong_answers_are_found(
        halves_probe.halves_found, finding, (halves_probe, name), (right, wrong), monkeypatch
    )
