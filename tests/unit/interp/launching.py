"""Runs IR text on the machine, the way a launch would."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubepy.interp import ReferenceDevice, Reports, run
from cubepy.ir import BufferType, Kernel, Scalar, parse_kernel
from cubepy.runtime import ArrayBinding, Binding, Grid, ScalarBinding

Array = np.ndarray[Any, Any]
DEVICE = ReferenceDevice()


def binding_of(value: Any, type: Any) -> Binding:
    if isinstance(type, Scalar):
        return ScalarBinding(element=type, value=value)
    assert isinstance(type, BufferType)
    assert value.dtype == type.element.numpy
    return ArrayBinding(
        memory=DEVICE.wrap(value),
        element=type.element,
        offset=0,
        shape=value.shape,
        strides=tuple(stride // value.itemsize for stride in value.strides),
    )


def launch(
    kernel: str | Kernel,
    *arguments: Any,
    cubes: int | tuple[int, int, int] = 1,
    extent: tuple[int, int, int] | None = None,
    plane_dim: int = 4,
    reports: Reports | None = None,
) -> None:
    """Parse (if need be) and run a kernel over `cubes` cubes."""
    parsed = parse_kernel(kernel) if isinstance(kernel, str) else kernel
    count = (cubes, 1, 1) if isinstance(cubes, int) else cubes
    x, y, z = (c * d for c, d in zip(count, parsed.cube_dim, strict=True))
    grid = Grid(cube_count=count, extent=extent or (x, y, z))
    bindings = [
        binding_of(a, param.type) for a, param in zip(arguments, parsed.params, strict=True)
    ]
    run(parsed, grid, bindings, plane_dim=plane_dim, reports=reports or Reports())
