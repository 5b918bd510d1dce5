"""Helpers called from Python on numbers, for unit tests: one unit runs them on `reference`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cubepy import frontend, ir
from cubepy.compiler import finish
from cubepy.errors import ArgumentError, CubeError
from cubepy.ir import (
    BOOL,
    F32,
    INDEX,
    BufferType,
    Scalar,
    StrideClass,
    TupleType,
)
from cubepy.launcher.binding import bound_arguments
from cubepy.runtime import LoadedKernel, device, grid_of, launch

__all__ = ["HostCalls"]

_NUMBERS: Mapping[type, Scalar] = {bool: BOOL, int: INDEX, float: F32}
ONE = (1, 1, 1)


class HostCalls:
    """Calls of one helper; what was compiled is kept by argument types and captured names."""

    def __init__(self, source: frontend.KernelSource) -> None:
        self._source = source
        self._known: dict[Any, tuple[LoadedKernel, frontend.Watched]] = {}

    def __call__(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """The helper's result, a NumPy scalar or a tuple of them; None if it returns nothing."""
        source = self._source
        bound = bound_arguments(source.name, source.signature, arguments, keywords)
        types = tuple(self._type_of(name, value) for name, value in bound.arguments.items())
        key = (types, frontend.read_captures(source, {}))
        known = self._known.get(key)
        if known is None or not known[1].unchanged():
            known = self._known[key] = self._compile(types)
        kernel, _ = known
        outputs = kernel.artifact.abi.types[len(types) :]
        results = [
            np.zeros(1, type.element.numpy) for type in outputs if isinstance(type, BufferType)
        ]
        reference = device("reference")
        launch(reference, kernel, grid_of(ONE, ONE), (*bound.arguments.values(), *results))
        values = tuple(result[0] for result in results)
        return values[0] if len(values) == 1 else values or None

    def _type_of(self, name: str, value: object) -> Scalar:
        """The annotation's type, or the number's own."""
        annotated = frontend.annotation_of(self._source.annotations.get(name, Any))
        if annotated.kind == "scalar" and annotated.element is not None:
            return annotated.element
        helper = self._source.name
        if annotated.kind in ("array", "tensor") or isinstance(value, np.ndarray):
            raise CubeError(
                f"{helper} is a kernel and is launched, not called\n"
                f"  help: {helper}.over(shape)(…), or {helper}[cube_count, cube_dim](…)"
            )
        found = ir.scalar_of_numpy(value.dtype) if isinstance(value, np.generic) else None
        found = found or _NUMBERS.get(type(value))
        if found is None:
            raise ArgumentError(
                f"{helper}: argument {name!r}: from Python a helper is called with numbers, "
                f"got {type(value).__name__}\n  help: call it in a kernel"
            )
        return found

    def _compile(self, types: tuple[Scalar, ...]) -> tuple[LoadedKernel, frontend.Watched]:
        source, watch = self._source, frontend.Watch()
        functions = frontend.lower_function(source.function, types, name=source.name, watch=watch)
        reference = device("reference")
        kernel = _around(functions, tuple(source.signature.parameters), types)
        return reference.load(finish(kernel, reference.target).artifact), watch.watched()


def _around(
    functions: Sequence[ir.Function], names: tuple[str, ...], types: tuple[Scalar, ...]
) -> ir.Kernel:
    """A kernel whose unit calls the last function and stores what it returns."""
    callee = functions[-1]
    elements: tuple[Scalar, ...] = ()
    if isinstance(callee.result, TupleType):
        elements = callee.result.elements
    elif isinstance(callee.result, Scalar):
        elements = (callee.result,)
    numbers = [ir.param(name, type) for name, type in zip(names, types, strict=True)]
    outputs = [
        ir.param(f"result{number}", BufferType(element, (StrideClass.ONE,), alias=number))
        for number, element in enumerate(elements)
    ]
    build = ir.Builder()
    with build.region() as body:
        attrs = {"callee": callee.name, "results": ",".join(map(str, elements))}
        called = build.emit(ir.ops.CALL, *numbers, attrs=attrs)
        start = build.index(0)
        for number, output in enumerate(outputs):
            value = called
            if isinstance(callee.result, TupleType):
                value = build.emit(ir.ops.TUPLE_GET, called, attrs={"index": number})
            build.emit(ir.ops.STORE, output, start, value, attrs={"check": "checked"})
    return ir.Kernel(
        name=callee.name,
        params=(*numbers, *outputs),
        body=body.close(),
        functions=tuple(functions),
        loc=callee.loc,
    )
