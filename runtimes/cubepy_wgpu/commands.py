"""One dispatch, given to the queue.

The classes of wgpu-py cost a launch more than what is below them does. So the functions of their
library are called directly where wgpu-py is of the version whose functions these are; errors are
raised by its own proxies of them, as for its classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wgpu

__all__ = ["dispatch"]

Triple = tuple[int, int, int]
_KNOWN = (0, 32)
_DIRECT: Any = None
if wgpu.version_info[:2] == _KNOWN:
    from wgpu.backends.wgpu_native import _api, ffi, lib

    _DIRECT = _api.libf
    # descriptions without a label
    _ENCODER = ffi.new("WGPUCommandEncoderDescriptor *")
    _PASS = ffi.new("WGPUComputePassDescriptor *")
    _BUFFER = ffi.new("WGPUCommandBufferDescriptor *")


def dispatch(
    device: Any, pipeline: Any, bound: Any, count: Triple, stamped: Mapping[str, object] | None
) -> None:
    """Give the queue `count` work-groups; `stamped` is where the pass writes when it ends."""
    if _DIRECT is None or stamped is not None:
        _by_classes(device, pipeline, bound, count, stamped)
    else:
        _directly(device, pipeline, bound, count)


def _by_classes(
    device: Any, pipeline: Any, bound: Any, count: Triple, stamped: Mapping[str, object] | None
) -> None:
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass(timestamp_writes=stamped)
    work.set_pipeline(pipeline)
    work.set_bind_group(0, bound)
    work.dispatch_workgroups(*count)
    work.end()
    device.queue.submit([encoder.finish()])


def _directly(device: Any, pipeline: Any, bound: Any, count: Triple) -> None:
    encoder = work = commands = None
    try:
        encoder = _DIRECT.wgpuDeviceCreateCommandEncoder(_below(device), _ENCODER)
        work = _DIRECT.wgpuCommandEncoderBeginComputePass(encoder, _PASS)
        _DIRECT.wgpuComputePassEncoderSetPipeline(work, _below(pipeline))
        _DIRECT.wgpuComputePassEncoderSetBindGroup(work, 0, _below(bound), 0, ffi.NULL)
        _DIRECT.wgpuComputePassEncoderDispatchWorkgroups(work, *count)
        _DIRECT.wgpuComputePassEncoderEnd(work)
        commands = _DIRECT.wgpuCommandEncoderFinish(encoder, _BUFFER)
        _DIRECT.wgpuQueueSubmit(_below(device.queue), 1, [commands])
    finally:
        if work is not None:
            lib.wgpuComputePassEncoderRelease(work)
        if commands is not None:
            lib.wgpuCommandBufferRelease(commands)
        if encoder is not None:
            lib.wgpuCommandEncoderRelease(encoder)


def _below(thing: Any) -> Any:
    """What the library knows an object of wgpu-py by."""
    return thing._internal  # noqa: SLF001
