"""WGSL: kernels as readable text for wgpu and for browsers."""

from cubepy.codegen.wgsl.emit import emit_wgsl
from cubepy.codegen.wgsl.operations import VALUES
from cubepy.codegen.wgsl.verifier import verify_wgsl

__all__ = ["VALUES", "emit_wgsl", "verify_wgsl"]
