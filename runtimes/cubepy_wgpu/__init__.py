"""The wgpu runtime: WGSL on GPUs through Vulkan, Metal or Direct3D, by wgpu-py."""

from cubepy_wgpu.device import WgpuDevice, WgpuRuntime, runtime

__all__ = ["WgpuDevice", "WgpuRuntime", "runtime"]
