"""The kernels whose sources are mutated, with arguments: those of the examples, and more."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from examples import kernels
from examples.kernels import windows
from tests.mutation import language_kernels

__all__ = ["Case", "corpus"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kernel as text, without decorators, its helpers before it. `scope`: names it reads.

    `arguments` makes fresh ones; units run over `shape`, or in one cube of `cube_dim`.
    """

    name: str
    text: str
    scope: Mapping[str, Any]
    arguments: Callable[[], dict[str, Any]]
    shape: tuple[int, ...] = ()
    cube_dim: tuple[int, int, int] = (1, 1, 1)


def _plain(text: str) -> str:
    """Without decorators and docstrings."""
    tree = ast.parse(text)
    for function in tree.body:
        assert isinstance(function, ast.FunctionDef)
        function.decorator_list = []
        if ast.get_docstring(function) is not None:
            del function.body[0]
    return ast.unparse(tree)


def _case(
    *functions: Any, arguments: Callable[[], dict[str, Any]], shape: tuple[int, ...] = (),
    cube_dim: tuple[int, int, int] = (1, 1, 1),
) -> Case:  # fmt: skip
    plain = [getattr(function, "function", function) for function in functions]
    return Case(
        name=plain[-1].__name__,
        text="\n".join(_plain(inspect.getsource(function)) for function in plain),
        scope=plain[-1].__globals__,
        arguments=arguments,
        shape=shape,
        cube_dim=cube_dim,
    )


def floats(*shape: int, dtype: type = np.float32) -> np.ndarray[Any, Any]:
    """Numbers around zero, the same each time."""
    return (np.random.default_rng(7).normal(size=shape) * 3).astype(dtype)


def whole(*shape: int, dtype: type = np.int32, low: int = -3, high: int = 9) -> Any:
    """Small integers, the same each time."""
    return np.random.default_rng(7).integers(low, high, shape).astype(dtype)


@cache
def corpus() -> tuple[Case, ...]:
    """Every case."""
    return (*_examples(), *_language())


def _examples() -> tuple[Case, ...]:
    return (
        _case(kernels.saxpy, shape=(8,), arguments=lambda: {"a": 2.5, "x": floats(8),
              "y": floats(8)}),
        _case(kernels.gelu, shape=(8,), arguments=lambda: {"x": floats(8), "out": floats(8)}),
        _case(kernels.mandelbrot, shape=(4, 6), arguments=lambda: {"left": -2.0, "top": -1.0,
              "step": 0.5, "limit": 12, "out": whole(4, 6)}),
        _case(kernels.first_match, shape=(4,), arguments=lambda: {"rows": floats(4, 5),
              "wanted": 1.0, "out": whole(4)}),
        _case(kernels.collatz_lengths, shape=(6,), arguments=lambda: {
              "start": whole(6, dtype=np.uint32, low=1), "limit": 12, "out": whole(6)}),
        _case(kernels.matmul, cube_dim=(4, 4, 1), arguments=lambda: {"a": floats(4, 5),
              "b": floats(5, 4), "c": floats(4, 4), "TILE": 4}),
        _case(kernels.block_sum, cube_dim=(16, 1, 1), arguments=lambda: {"x": floats(13),
              "out": floats(1)}),
        _case(kernels.softmax_rows, cube_dim=(16, 1, 1), arguments=lambda: {"x": floats(1, 21),
              "out": floats(1, 21)}),
        _case(kernels.histogram, shape=(16,), arguments=lambda: {
              "x": whole(16, dtype=np.uint8, low=0), "counts": whole(9, dtype=np.uint32, low=0)}),
        _case(kernels.conv2d, shape=(3, 4), arguments=lambda: {"image": floats(3, 4),
              "weights": floats(3, 3), "out": floats(3, 4)}),
        _case(kernels.fir, shape=(6,), arguments=lambda: {"x": floats(8), "taps": floats(3),
              "out": floats(6), "TAPS": 3}),
        _case(windows.polar, kernels.to_polar, shape=(8,), arguments=lambda: {"x": floats(8),
              "y": floats(8), "radius": floats(8), "quadrant": whole(8)}),
    )  # fmt: skip


def _language() -> tuple[Case, ...]:
    names = language_kernels
    return (
        _case(names.matching, shape=(9,), arguments=lambda: {"x": whole(9), "out": whole(9)}),
        _case(names.loops, shape=(8,), arguments=lambda: {"x": whole(8), "out": whole(8), "n": 6}),
        _case(names.scopes, shape=(8,), arguments=lambda: {"x": floats(8), "out": floats(8)}),
        _case(names.helper, names.helped, shape=(8,), arguments=lambda: {"x": floats(8),
              "out": floats(8), "count": 3}),
        _case(names.generic, shape=(5,), arguments=lambda: {"x": floats(5, dtype=np.float64),
              "out": floats(5, dtype=np.float64), "factor": 1.5}),
        _case(names.integers, shape=(6,), arguments=lambda: {
              "x": whole(6, dtype=np.uint32, low=0), "y": whole(6, dtype=np.int16),
              "out": whole(6, dtype=np.int64)}),
        _case(names.cooperate, cube_dim=(16, 1, 1), arguments=lambda: {"x": floats(13),
              "out": whole(2)}),
        _case(names.mathematics, shape=(6,), arguments=lambda: {"x": floats(6),
              "out": floats(6)}),
        _case(names.views, shape=(8,), arguments=lambda: {"x": floats(12), "t": floats(3, 4),
              "out": floats(8), "lo": 1, "hi": 11}),
        _case(names.ordered, cube_dim=(8, 1, 1), arguments=lambda: {"x": whole(8),
              "flags": whole(8), "out": whole(8)}),
        _case(names.matrices, shape=(3, 4), arguments=lambda: {"a": floats(3, 4),
              "b": floats(3, 4, dtype=np.float64), "out": floats(3, 4, dtype=np.float64)}),
    )  # fmt: skip
