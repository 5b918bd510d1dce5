"""The emitter of the target `reference`: the printed kernel itself, with the places of its ops.

The interpreter parses the text back, so that each of its runs proves printer and parser too.
"""

from __future__ import annotations

from cubepy.ir import Access, BufferType, Kernel, print_kernel
from cubepy.target import Artifact, Target, abi_of

__all__ = ["emit_reference"]


def emit_reference(kernel: Kernel, target: Target) -> Artifact:
    """The artifact of a kernel that has been through the passes for `target`."""
    access = (
        param.type.access if isinstance(param.type, BufferType) else Access.READ
        for param in kernel.params
    )
    return Artifact(
        target=target,
        kernel_name=kernel.name,
        entry=kernel.name,
        text=print_kernel(kernel, locations=True),
        abi=abi_of(kernel),
        cube_dim=kernel.cube_dim,
        access=tuple(access),
    )
