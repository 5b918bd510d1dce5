"""OpenCL C: kernels as readable text that any OpenCL compiler from 1.2 on takes."""

from cubepy.codegen.opencl.emit import emit_opencl
from cubepy.codegen.opencl.operations import VALUES

__all__ = ["VALUES", "emit_opencl"]
