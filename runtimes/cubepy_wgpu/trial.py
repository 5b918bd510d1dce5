"""One small kernel on a device, how it is written, and what a device makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import wgpu

from cubepy_wgpu.driver import explained, pipeline_of

__all__ = ["bindings", "on_elements", "tried"]

Array = np.ndarray[Any, Any]


def bindings(elements: Mapping[str, str]) -> str:
    """The declarations of storage buffers in their order, each with what its elements are."""
    return "".join(
        f"@group(0) @binding({number}) var<storage, read_write> {name}: array<{element}>;\n"
        for number, (name, element) in enumerate(elements.items())
    )


def on_elements(elements: Mapping[str, str], statements: str, *, declared: str = "") -> str:
    """A kernel `probe` on buffers as `bindings` has them. Unit `i` of a cube of 64 does the
    statements where `i` is below `n`, the length of the buffer `a`.
    """
    return f"""{declared}{bindings(elements)}@compute @workgroup_size(64)
fn probe(@builtin(global_invocation_id) unit: vec3<u32>) {{
    let i = unit.x;
    let n = arrayLength(&a);
    if (i >= n) {{
        return;
    }}{statements}}}
"""


def tried(device: Any, text: str, cubes: int, out: Array, *inputs: Array) -> Array:
    """What the kernel `probe` writes to its first buffer; BackendError where it is not built."""
    with explained("the probe"):
        pipeline = pipeline_of(device, text, "probe")
        uses = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
        memories = [
            device.create_buffer_with_data(data=each, usage=uses) for each in (out, *inputs)
        ]
        bound = device.create_bind_group(
            layout=pipeline.get_bind_group_layout(0),
            entries=[
                {"binding": number, "resource": {"buffer": each, "offset": 0, "size": each.size}}
                for number, each in enumerate(memories)
            ],
        )
        encoder = device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        work.set_bind_group(0, bound)
        work.dispatch_workgroups(cubes)
        work.end()
        device.queue.submit([encoder.finish()])
        return np.frombuffer(device.queue.read_buffer(memories[0]), out.dtype)
