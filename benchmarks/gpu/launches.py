"""What a launch costs above the driver's own, as a user of pyopencl or wgpu-py would write it.

Many launches of 64 units on buffers, then one wait, turn by turn; the time is that of the launching
thread on the processor, for on devices that are processors themselves the rest is their work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

import cubepy as cb
from benchmarks.figures import Figure
from benchmarks.gpu.by_hand import Shader
from benchmarks.launch import add
from benchmarks.peers.opencl import load_driver

__all__ = ["figures"]

_UNITS, _CALLS, _TURNS, _LIMIT_US = 64, 500, 41, 5.0
_OPENCL = """
kernel void add(global const float *restrict a, global const float *restrict b,
                global float *restrict c) {
    size_t i = get_global_id(0);
    if (i < 64) c[i] = a[i] + b[i];
}
"""
_WGSL = """
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&c)) { c[id.x] = a[id.x] + b[id.x]; }
}
"""
# Launches, and waits for the last.
Many = Callable[[int], object]


def _ours(device: Any) -> Many:
    a, b, c = (device.array(np.ones(_UNITS, np.float32)) for _ in range(3))
    launch = add.over(_UNITS)

    def many(calls: int) -> None:
        for _ in range(calls):
            launch(a, b, c)
        device.sync()

    return many


def _bare_opencl(device: Any) -> Many:
    driver = load_driver()
    context = device.array(np.ones(1)).memory.context
    queue = driver.CommandQueue(context)
    kernel = driver.Program(context, _OPENCL).build().add
    flags = driver.mem_flags.READ_WRITE
    memories = [driver.Buffer(context, flags, 4 * _UNITS) for _ in range(3)]

    def many(calls: int) -> None:
        for _ in range(calls):
            kernel(queue, (256,), (256,), *memories)
        queue.finish()

    return many


def _bare_wgpu(device: Any) -> Many:
    shader = Shader(device.handle, _WGSL, [np.ones(_UNITS, np.float32) for _ in range(3)])

    def many(calls: int) -> None:
        for _ in range(calls):
            shader.launch((1, 1, 1))
        shader.wait()

    return many


def _per_call(many: Many) -> float:
    """Microseconds of this thread."""
    start = time.thread_time()
    many(_CALLS)
    return (time.thread_time() - start) / _CALLS * 1e6


def figures() -> Iterator[Figure]:
    """Above a bare launch, in both runtimes."""
    for runtime, bare in (("opencl", _bare_opencl), ("wgpu", _bare_wgpu)):
        device = cb.device(runtime)
        ours, theirs = _ours(device), bare(device)
        pairs = [(_per_call(ours), _per_call(theirs)) for _ in range(_TURNS)][_TURNS // 4 :]
        above = median(mine - other for mine, other in pairs)
        base = median(other for _, other in pairs)
        name = f"{runtime}: a launch above a bare one of {base:.1f} µs"
        yield Figure(name=name, value=above, unit="µs", limit=_LIMIT_US)
