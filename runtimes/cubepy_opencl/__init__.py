"""The OpenCL runtime: OpenCL C built by the drivers of this machine, through pyopencl."""

from cubepy_opencl.device import OpenclDevice, OpenclRuntime, runtime

__all__ = ["OpenclDevice", "OpenclRuntime", "runtime"]
