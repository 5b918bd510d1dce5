"""WGSL: kernels as readable text for wgpu and for browsers."""

from cubepy.codegen.wgsl.emit import emit_wgsl
from cubepy.codegen.wgsl.operations import VALUES

__all__ = ["VALUES", "emit_wgsl"]
