"""Shared arrays that are not alive at once share a place, and what they hold stays right."""

import random

import numpy as np
import pytest

import cubepy as cb
from cubepy import compiler, frontend, ir
from cubepy.errors import RuntimeUnavailable
from cubepy.target import Target

UNITS = 64
MIXED = ("f32", "i32", "u16", "u32")


def kernel_of(
    phases: list[tuple[int, int]], *, barrier: bool = True, types: tuple[str, ...] = ("f32",)
) -> str:
    """Each phase puts values into array `number`, turned by some units, and reads them."""
    arrays = sorted({number for number, _ in phases})
    declared = body = ""
    for number in arrays:
        kind, more = types[number % len(types)], number * (len(types) > 1)
        declared += f"    s{number} = cb.shared({kind}, {UNITS + more})\n"
    for number, turn in phases:
        kind = types[number % len(types)]
        body += f"    s{number}[u] = {kind}(v)\n    cb.sync_cube()\n"
        body += f"    v = f32(s{number}[(u + {turn}) % {UNITS}]) + {turn}.0\n"
        body += "    cb.sync_cube()\n" if barrier else ""
    return (
        "import cubepy as cb\nfrom cubepy import Array, f32, i32, u16, u32\n@cb.cube\n"
        f"def kernel(x: Array[f32]):\n    u = cb.UNIT_POS\n{declared}    v = x[u]\n{body}"
        "    x[u] = v\n"
    )


def arrays(text: str, target: str) -> list[ir.Op]:
    source = frontend.capture(cb.exec(text, {})["kernel"])
    options = frontend.LaunchOptions(cube_dim=(UNITS, 1, 1))
    specialization = frontend.specialize(source, {"x": np.zeros(UNITS, np.float32)}, options)
    built = compiler.build(source, specialization, Target.parse(target)).optimized
    return [op for op in ir.walk(built.body) if op.opdef is ir.ops.SHARED]


def arrays_left(text: str, target: str) -> int:
    return len(arrays(text, target))


def room(text: str, target: str) -> int:
    """Bytes of all places together."""
    places = {op.attrs.get("place", op): op.attrs["room"] for op in arrays(text, target)}
    return sum(size for size in places.values() if isinstance(size, int))


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "opencl", "wgsl"])
def test_the_total_is_what_is_alive_at_once(target: str) -> None:
    assert arrays_left(kernel_of([(k, k + 1) for k in range(6)]), target) == 1
    # the first array is read again at the end, so the others have but one place
    again = kernel_of([(0, 1), (1, 2), (2, 3)]).replace("    x[u] = v\n", "    x[u] = v + s0[u]\n")
    assert arrays_left(again, target) == 2


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "opencl", "wgsl"])
def test_arrays_without_a_barrier_between_stay_apart(target: str) -> None:
    assert arrays_left(kernel_of([(0, 1), (1, 2)], barrier=False), target) == 2
    looped = kernel_of([(0, 1)]).replace(
        "    v = x[u]\n", "    v = x[u]\n    t = cb.shared(f32, 64)\n"
    )
    loop = "    for k in range(3):\n        v += t[u]\n        cb.sync_cube()\n        t[u] = v\n"
    looped = looped.replace("    x[u] = v\n", f"{loop}    x[u] = v + s0[u]\n")
    assert arrays_left(looped, target) == 2


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "opencl"])
def test_arrays_of_other_types_or_shapes_share_bytes(target: str) -> None:
    phases = [(k, k + 1) for k in range(4)]
    text = kernel_of(phases, types=MIXED)
    assert arrays_left(text, target) == 4
    assert room(text, target) == 4 * (UNITS + 3)
    names = cb.exec(text, {})
    stages = names["kernel"][1, UNITS].inspect(np.zeros(UNITS, np.float32), target=target)
    assert stages.resources.shared_bytes == 4 * (UNITS + 3)


@pytest.mark.parametrize("device", ["reference", "cpu", "opencl", "opencl:1", "wgpu"])
@pytest.mark.parametrize("types", [("f32",), MIXED], ids=["f32", "mixed"])
def test_contents_stay_right(device: str, types: tuple[str, ...]) -> None:
    try:
        cb.device(device)
    except RuntimeUnavailable as problem:
        pytest.skip(str(problem))
    draw = random.Random(3)
    for _ in range(3):
        phases = [
            (draw.randrange(4), draw.randrange(1, UNITS)) for _ in range(draw.randrange(2, 8))
        ]
        x = np.arange(UNITS, dtype=np.float32)
        expected = x.copy()
        for _, turn in phases:
            expected = np.roll(expected, -turn) + np.float32(turn)
        kernel = cb.exec(kernel_of(phases, types=types), {})["kernel"]
        kernel[1, UNITS](x) if device == "cpu" else kernel.launch(
            x, cube_count=1, cube_dim=UNITS, device=device
        )
        np.testing.assert_array_equal(x, expected)
