"""One small kernel on a device, run to see what the device makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import wgpu

from cubepy_wgpu.driver import explained, pipeline_of

__all__ = ["tried"]

Array = np.ndarray[Any, Any]


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
