"""Kernels on a web page: `python -m examples.browser PAGE.html`, then open it in a browser.

The page is one file. It has the WGSL of three kernels, their arrays and argument blocks, and a few
lines of script that give them to the browser's WebGPU; no server, no Python. `results` there are
the bits of what each kernel wrote.
"""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from cubepy.ir import BufferType
from cubepy.runtime import ArrayBinding, Grid, grid_of, pack
from cubepy.target import Artifact, Extra, array_groups
from examples.kernels import block_sum, gelu, histogram

__all__ = ["CASES", "page"]

Array = np.ndarray[Any, np.dtype[Any]]
UNITS = 256
SIZE = 4096


def _numbers() -> Array:
    return np.random.default_rng(5).normal(scale=3, size=SIZE).astype(np.float32)


def _bytes() -> Array:
    return np.random.default_rng(6).integers(0, 256, SIZE, np.uint8)


#: A kernel, its arrays, and how many cubes of `UNITS` units run it.
CASES: dict[str, tuple[Any, list[Array], int]] = {
    "gelu": (gelu, [_numbers(), np.zeros(SIZE, np.float32)], SIZE // UNITS),
    "block_sum": (
        block_sum, [_numbers(), np.zeros(SIZE // UNITS, np.float32)], SIZE // UNITS
    ),
    "histogram": (histogram, [_bytes(), np.zeros(256, np.uint32)], SIZE // UNITS),
}  # fmt: skip

_SCRIPT = """
const octets = text => Uint8Array.from(atob(text), each => each.charCodeAt(0));
const text = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer)));

async function run(device, kernel) {
  const module = device.createShaderModule({code: kernel.code});
  const said = (await module.getCompilationInfo()).messages.filter(each => each.type === "error");
  if (said.length) throw new Error(`${kernel.name}:${said[0].lineNum}: ${said[0].message}`);
  const uses = GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC;
  const buffers = kernel.buffers.map(({kind, data}) => {
    const content = octets(data);
    const use = kind === "uniform" ? GPUBufferUsage.UNIFORM : GPUBufferUsage.STORAGE;
    const buffer = device.createBuffer({size: content.length, usage: use | uses});
    device.queue.writeBuffer(buffer, 0, content);
    return buffer;
  });
  const layout = device.createBindGroupLayout({entries: kernel.buffers.map(({kind}, binding) => (
    {binding, visibility: GPUShaderStage.COMPUTE, buffer: {type: kind}}))});
  const pipeline = await device.createComputePipelineAsync({
    layout: device.createPipelineLayout({bindGroupLayouts: [layout]}),
    compute: {module, entryPoint: kernel.entry}});
  const bound = device.createBindGroup({layout, entries: buffers.map((buffer, binding) => (
    {binding, resource: {buffer}}))});
  const encoder = device.createCommandEncoder();
  const work = encoder.beginComputePass();
  work.setPipeline(pipeline);
  work.setBindGroup(0, bound);
  work.dispatchWorkgroups(...kernel.cubes);
  work.end();
  const written = buffers[buffers.length - 1];
  const copy = device.createBuffer(
    {size: written.size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ});
  encoder.copyBufferToBuffer(written, 0, copy, 0, written.size);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  return text(copy.getMappedRange());
}

async function runAll() {
  const adapter = navigator.gpu && await navigator.gpu.requestAdapter();
  if (!adapter) return {reason: "this browser has no WebGPU adapter"};
  const device = await adapter.requestDevice();
  const results = {};
  for (const kernel of kernels) {
    results[kernel.name] = await run(device, kernel);
    document.body.append(`${kernel.name}: ${results[kernel.name].slice(0, 40)}…`,
                         document.createElement("br"));
  }
  return {results};
}
const finished = runAll();
"""


def page() -> str:
    """The page as HTML."""
    kernels = json.dumps([_described(name) for name in CASES]).replace("<", "\\u003c")
    title = "Kernels in the browser"
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>\n'
        f"<body><h1>{title}</h1>\n<script>\nconst kernels = {kernels};\n{_SCRIPT}</script>\n"
    )


def _described(name: str) -> dict[str, object]:
    """Everything that a browser needs to run a kernel."""
    kernel, arrays, count = CASES[name]
    artifact = kernel.launcher(count, UNITS).inspect(*arrays, target="wgsl").artifact
    grid = grid_of((count, 1, 1), artifact.cube_dim)
    buffers = [{"kind": "uniform", "data": _coded(_block(artifact, arrays, grid))}]
    for group in array_groups(artifact.abi, artifact.access):
        (number,) = group.arguments  # no two of these arrays overlap
        kind = "storage" if group.written else "read-only-storage"
        buffers.append({"kind": kind, "data": _coded(arrays[number].tobytes())})
    return {
        "name": name, "entry": artifact.entry, "code": artifact.text, "cubes": grid.cube_count,
        "buffers": buffers,
    }  # fmt: skip


def _block(artifact: Artifact, arrays: list[Array], grid: Grid) -> bytes:
    """The words of the launch; all cubes are in one part of it."""
    bindings = [
        ArrayBinding(
            memory=None, element=each.element, offset=0, shape=array.shape,
            strides=tuple(step // array.itemsize for step in array.strides),
        )
        for each, array in zip(artifact.abi.types, arrays, strict=True)
        if isinstance(each, BufferType)
    ]  # fmt: skip
    return pack(artifact.abi, bindings, grid, [0] * len(arrays)).tobytes() + bytes(4 * len(Extra))


def _coded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
