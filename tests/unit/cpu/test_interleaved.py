"""Neighbouring elements of every unit: whole vectors and shuffles, with the same results."""

import random
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32, i32, u8, u32

DEVICES = ("cpu", "cpu:x86-64-v2+gang=4", "cpu:x86-64-v3+gang=32")


def made(text: str, **names: Any) -> Any:
    """The kernel that a text defines."""
    namespace: dict[str, Any] = {"cb": cb, "Array": Array, **names}
    cb.exec(text, namespace)
    return namespace["kernel"]


def random_kernel(seed: int, dtype: Any) -> Any:
    """Loads and stores around multiples of the unit's number, mostly of neighbours in order."""
    rng = random.Random(seed)
    stride = rng.choice([2, 2, 3, 4, 4, 8, 16])
    lines = ["i = cb.ABSOLUTE_POS", f"base = {stride} * i"]
    known = ["i"]
    for number in range(rng.randint(2, 5)):
        memory = rng.choice(["x", "y"])
        most = stride + 1 if memory == "x" else stride  # beyond is another unit's
        places = list(range(rng.choice([2, stride, most])))
        if rng.random() < 0.3:
            rng.shuffle(places)
        if rng.random() < 0.3:
            lines.append(f"if x[i] {rng.choice('<>')} T(1):")
            lines.append(f"    y[base + {rng.randrange(stride)}] = T({number})")
        if rng.random() < 0.5:
            names = [f"v{number}_{place}" for place in places]
            lines += [f"{name} = {memory}[base + {place}]"
                      for name, place in zip(names, places, strict=True)]  # fmt: skip
            known += names
        else:
            lines += [f"y[base + {place}] = T({rng.choice(known)}) + T({place})"
                      for place in places if place < stride]  # fmt: skip
    body = "\n    ".join(lines)
    text = f"@cb.cube\ndef kernel(x: Array[T], y: Array[T]):\n    {body}\n"
    return made(text, T=dtype), stride, text


@pytest.mark.parametrize("seed", range(10))
def test_random_neighbours(seed: int) -> None:
    """Every unit writes its own part of `y` and reads that and `x`."""
    dtype = (f32, i32, u8, f32)[seed % 4]
    kernel, stride, text = random_kernel(seed, dtype)
    for units, room in ((131, 0), (64, 5)):
        size = units * stride - room  # the last units may reach outside
        start = np.random.default_rng(seed).integers(0, 9, size)
        x, y = (np.asarray(part, np.asarray(dtype(0)).dtype) for part in (start, start[::-1]))
        results = []
        for target in ("reference", *DEVICES):
            room_behind = np.zeros(2 * size, y.dtype)
            room_behind[:size] = y
            kernel.over(units, device=target)(x, room_behind[:size])
            results.append(room_behind)
        for target, found in zip(DEVICES, results[1:], strict=True):
            assert np.array_equal(found, results[0]), f"{target}\n{text}"


@cb.cube
def turned(x: Array[f32], out: Array[f32], N: Comptime[int]) -> None:
    i = cb.ABSOLUTE_POS
    a = x.vectorized(N)[i]
    out.vectorized(N)[i] = cb.vector(*reversed(a))


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("count", [2, 4, 8])
def test_every_size_of_a_group(target: str, count: int) -> None:
    x, out = np.random.default_rng(1).random(count * 200).astype(np.float32), np.zeros(1)
    out = np.zeros_like(x)
    turned.over(200, device=target)(x, out, count)
    np.testing.assert_array_equal(out.reshape(200, count), x.reshape(200, count)[:, ::-1])


@cb.cube
def shared_turn(x: Array[u32]) -> None:
    part = cb.shared(u32, (2, 64))
    pair = part.vectorized(2)
    pair[0, cb.UNIT_POS] = x.vectorized(2)[cb.UNIT_POS]
    cb.sync_cube()
    pair[1, cb.UNIT_POS] = pair[0, 31 - cb.UNIT_POS]
    x.vectorized(2)[cb.UNIT_POS] = pair[1, cb.UNIT_POS] + 1


@pytest.mark.parametrize("target", DEVICES)
def test_shared_memory(target: str) -> None:
    x = np.arange(64, dtype=np.uint32)
    shared_turn.launch(x, cube_count=1, cube_dim=32, device=target)
    assert x.tolist() == np.arange(1, 65).reshape(32, 2)[::-1].reshape(-1).tolist()


def fast_part(kernel: Any, *arguments: Any) -> str:
    """The code of a gang of which nothing is off or outside: what comes before masks."""
    text: str = kernel.over(1000).inspect(*arguments, target="cpu:x86-64-v4").llvm
    return text


def test_groups_gather_only_where_lanes_are_off() -> None:
    x, out = np.zeros(4000, np.float32), np.zeros(4000, np.float32)
    grouped = fast_part(turned, x, out, 4)
    assert grouped.count("shufflevector <16 x float>") >= 16
    for line in grouped.splitlines():
        if "@llvm.masked.gather" in line or "@llvm.masked.scatter" in line:
            assert "splat (i1" not in line  # under a mask that is not full


def test_a_store_between_loads_parts_them() -> None:
    kernel = made(
        "@cb.cube\ndef kernel(x: Array[T]):\n    i = cb.ABSOLUTE_POS\n    a = x[2 * i]\n"
        "    x[2 * i + 1] = T(7)\n    b = x[2 * i + 1]\n    x[2 * i] = a + b\n",
        T=f32,
    )
    for target in DEVICES:
        x = np.zeros(400, np.float32)
        kernel.over(200, device=target)(x)
        assert (x == 7).all()
