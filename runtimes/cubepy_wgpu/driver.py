"""The door to wgpu: finding adapters, building pipelines, saying what an error means."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import wgpu
import wgpu.backends.wgpu_native.extras as native

from cubepy.errors import BackendError, CubeError, DeviceLostError, LaunchError, OutOfMemoryError
from cubepy.location import excerpt
from cubepy.runtime import AGAIN, Device
from cubepy.target import Artifact, array_groups
from cubepy_wgpu.clock import FEATURE

__all__ = [
    "ATOMICS_64",
    "DRIVER_ERRORS",
    "FLOAT_SUMS",
    "HALVES",
    "LONGS",
    "build",
    "error_for",
    "explained",
    "find_adapters",
    "open_device",
    "pipeline_of",
]

#: What wgpu raises; some of its own errors are plain ones.
DRIVER_ERRORS = (wgpu.GPUError, RuntimeError)
_searching = threading.Lock()
_BEST_FIRST = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "CPU")
# naga's place of an error: `wgsl:7:12`.
_PLACE = re.compile(r"wgsl:(\d+):(\d+)")
#: What makes kernels better where there is it, by the driver's names.
LONGS, ATOMICS_64 = "shader-int64", "shader-int64-atomic-all-ops"
FLOAT_SUMS, HALVES = "shader-float32-atomic", "shader-f16"
_WANTED = frozenset(
    {"subgroup", "subgroup-barrier", "shader-f64", LONGS, ATOMICS_64, FLOAT_SUMS, HALVES, FEATURE}
)
_FOLDER = "XDG_RUNTIME_DIR"
_BACKENDS = ("Vulkan", "Metal", "D3D12", "Dx12")


def find_adapters() -> list[Any]:
    """All adapters that compute, real GPUs first; an empty list where there is none."""
    with _searching, _runtime_folder():
        with contextlib.suppress(RuntimeError):  # somebody made the instance before
            # OpenGL shows each GPU once more, and has no compute to speak of
            native.set_instance_extras(backends=["Vulkan", "Metal", "DX12"])
        adapters: Sequence[Any] = wgpu.gpu.enumerate_adapters_sync()
    found = [each for each in adapters if each.info["backend_type"] in _BACKENDS]
    return sorted(found, key=_rank)


@contextlib.contextmanager
def _runtime_folder() -> Iterator[None]:
    """While the driver's loader looks for displays, which it complains of where there are none."""
    if _FOLDER in os.environ or sys.platform != "linux":
        yield
        return
    os.environ[_FOLDER] = tempfile.gettempdir()
    try:
        yield
    finally:
        os.environ.pop(_FOLDER, None)


def _rank(adapter: Any) -> int:
    kind = adapter.info["adapter_type"]
    return _BEST_FIRST.index(kind) if kind in _BEST_FIRST else len(_BEST_FIRST)


def open_device(adapter: Any) -> Any:
    """A device with all that the adapter has."""
    with explained(str(adapter.info["device"])):
        limits: Mapping[str, int] = dict(adapter.limits)
        wanted = sorted(_WANTED & set(adapter.features))
        return adapter.request_device_sync(required_limits=limits, required_features=wanted)


def build(device: Any, artifact: Artifact) -> Any:
    """The pipeline of an artifact's text; BackendError with naga's words and the kernel's line."""
    try:
        return pipeline_of(device, artifact.text, artifact.entry, _layout(device, artifact))
    except BackendError as error:
        error.add_note(f"while building {artifact.kernel_name}")
        found = _PLACE.search(error.output)
        loc = artifact.line_map.get(int(found[1])) if found else None
        if loc is not None:
            error.add_note(f"{loc}: from this line of the kernel\n{excerpt(loc)}")
        raise


def _layout(device: Any, artifact: Artifact) -> Any:
    """All bindings, also those that the text does not speak of."""
    groups = array_groups(artifact.abi, artifact.access)
    kinds = ["uniform"]
    kinds += ["storage" if group.written else "read-only-storage" for group in groups]
    if artifact.faults or artifact.prints:
        kinds.append("storage")
    entries = [
        {"binding": number, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
        for number, kind in enumerate(kinds)
    ]
    group_layout = device.create_bind_group_layout(entries=entries)
    return device.create_pipeline_layout(bind_group_layouts=[group_layout])


def pipeline_of(device: Any, text: str, entry: str, layout: Any = wgpu.AutoLayoutMode.auto) -> Any:
    """A pipeline; BackendError with what the compiler says."""
    try:
        module = device.create_shader_module(code=text)
        return device.create_compute_pipeline(
            layout=layout, compute={"module": module, "entry_point": entry}
        )
    except wgpu.GPUError as error:
        if "lost" in str(error):
            raise error_for(error, "building a kernel") from error
        raise BackendError("the device does not build a kernel", str(error)) from error


@contextlib.contextmanager
def explained(what: str, device: Device | None = None) -> Iterator[None]:
    """Turns a driver's error into one of the project's own, and marks a device that is lost."""
    try:
        yield
    except DRIVER_ERRORS as error:
        if isinstance(error, CubeError):
            if isinstance(error, DeviceLostError) and device is not None:
                device.lost = True
            raise
        raise error_for(error, what, device) from error


def error_for(error: Exception, what: str, device: Device | None = None) -> CubeError:
    """The project's own error for one of the driver's; marks the device if that is lost."""
    said = str(error)
    if isinstance(error, wgpu.GPUOutOfMemoryError) or "Not enough memory" in said:
        return OutOfMemoryError(f"{what}: the device has not enough memory")
    if "is lost" in said or "device lost" in said.lower() or "Destroyed" in said:
        if device is not None:
            device.lost = True
        return DeviceLostError(f"{what}: the device is gone ({said.splitlines()[0]})\n{AGAIN}")
    if "dispatch" in said.lower() and "limit" in said.lower():
        return LaunchError(f"{what}: the device refuses the sizes ({said.splitlines()[0]})")
    return BackendError(f"{what}: the driver complains", said)
