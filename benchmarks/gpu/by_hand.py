"""Compute shaders as a user of wgpu-py launches them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import wgpu

from benchmarks.rows import Array

__all__ = ["Shader"]

_USES = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


class Shader:
    """A pipeline with its bind group: numbers in one uniform buffer, if any, then the arrays."""

    def __init__(self, device: Any, source: str, arguments: Sequence[Any]) -> None:
        self._device = device
        module = device.create_shader_module(code=source)
        self._pipeline = device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "main"}
        )
        numbers = [each for each in arguments if not isinstance(each, np.ndarray)]
        buffers = []
        if numbers:
            block = b"".join(each.tobytes() for each in numbers).ljust(-(-len(numbers) // 4) * 16)
            uses = wgpu.BufferUsage.UNIFORM
            buffers.append(device.create_buffer_with_data(data=block, usage=uses))
        self._given = [each for each in arguments if isinstance(each, np.ndarray)]
        self._arrays = [
            device.create_buffer_with_data(data=np.ascontiguousarray(each).data, usage=_USES)
            for each in self._given
        ]
        entries = [
            {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
            for number, buffer in enumerate((*buffers, *self._arrays))
        ]
        layout = self._pipeline.get_bind_group_layout(0)
        self._group = device.create_bind_group(layout=layout, entries=entries)
        self._marker = device.create_buffer(size=4, usage=wgpu.BufferUsage.COPY_SRC)

    def launch(self, groups: tuple[int, int, int]) -> None:
        """Give the queue one launch."""
        encoder = self._device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(self._pipeline)
        work.set_bind_group(0, self._group)
        work.dispatch_workgroups(*groups)
        work.end()
        self._device.queue.submit([encoder.finish()])

    def wait(self) -> None:
        """Until everything in the queue has finished."""
        self._device.queue.read_buffer(self._marker)

    def arrays(self) -> list[Array]:
        """What is in the arrays now."""
        return [
            np.frombuffer(self._device.queue.read_buffer(buffer), dtype=given.dtype)
            .reshape(given.shape)
            for buffer, given in zip(self._arrays, self._given, strict=True)
        ]  # fmt: skip
