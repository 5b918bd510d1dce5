"""Cases written as IR text: how positions, extents, locals and control flow are put to the test.

:func:`text_case` fills in what every kernel needs. What is expected is computed by plain Python,
one unit at a time, or by NumPy from the definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cubepy.ir import parse_kernel
from cubepy.testing.cases import Argument, Case, View

__all__ = ["buffer", "text_case"]

Array = np.ndarray[Any, Any]
_ALIAS = "alias"


def buffer(element: str, strides: str = "1") -> str:
    """The type of an array parameter in IR text; no two of them overlap."""
    return f"global<{element}, [{strides}], unknown, {_ALIAS}>"


def text_case(
    row: str,
    name: str,
    body: str,
    *,
    params: Mapping[str, str],
    arguments: Mapping[str, Argument],
    expected: Mapping[str, Array],
    functions: str = "",
    cube_dim: tuple[int, int, int] = (32, 1, 1),
    cube_count: tuple[int, int, int] = (1, 1, 1),
    extent: tuple[int, int, int] | None = None,
    views: Mapping[str, View] | None = None,
    raises: type[Exception] | None = None,
) -> Case:
    """A case from the body of a kernel; `params` maps names to types."""
    head = ", ".join(
        f"%{one}: {type.replace(_ALIAS, str(number))}"
        for number, (one, type) in enumerate(params.items())
    )
    dims = ", ".join(map(str, cube_dim))
    text = f"{functions}\nkernel @{row}({head}) cube_dim({dims}) {{\n{body}\n}}\n"
    return Case(
        row=row,
        name=f"{row}[{name}]",
        kernel=parse_kernel(text),
        arguments=arguments,
        expected=expected,
        cube_count=cube_count,
        extent=extent,
        views=views or {},
        raises=raises,
    )
