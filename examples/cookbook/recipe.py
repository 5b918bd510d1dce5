"""A recipe as a value, whether it is right, and how long it takes beside its twin."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["Measured", "Recipe", "difference", "measure"]

# Taking turns ends after so many, or when so many seconds are spent.
TURNS, SECONDS = 7, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What one file of the cookbook holds."""

    name: str
    title: str
    text: str
    module: ModuleType
    kernels: tuple[Any, ...]
    run: Callable[..., np.ndarray[Any, Any]]
    expected: Callable[..., np.ndarray[Any, Any]]
    tolerance: float

    @classmethod
    def of(cls, module: ModuleType) -> "Recipe":
        """The recipe of a file; one that lacks a part is an AttributeError."""
        title, _, text = (module.__doc__ or "").strip().partition("\n\n")
        return cls(
            name=module.__name__.rpartition(".")[2],
            title=title,
            text=text,
            module=module,
            kernels=module.KERNELS,
            run=module.run,
            expected=module.expected,
            tolerance=module.TOLERANCE,
        )

    def inputs(self, *, small: bool = False) -> tuple[Any, ...]:
        """Arguments of `run` and `expected`, the same each time."""
        size = self.module.SMALL if small else self.module.SIZE
        arguments: tuple[Any, ...] = self.module.inputs(np.random.default_rng(1), size)
        return arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The best run of the recipe and of its twin, in milliseconds."""

    ours: float
    twin: float

    def __str__(self) -> str:
        return f"{self.ours:9.2f} ms {self.twin:9.2f} ms {self.twin / self.ours:7.1f} ×"


def difference(recipe: Recipe, arguments: tuple[Any, ...]) -> float:
    """How far the result is off at most, relative to values above 1; infinity for another shape."""
    got, wanted = recipe.run(*arguments), recipe.expected(*arguments)
    if got.shape != wanted.shape:
        return float("inf")
    wide = wanted.astype(np.float64)
    off = np.abs(got.astype(np.float64) - wide) / np.maximum(np.abs(wide), 1)
    # A NaN is as wrong as can be.
    return float(np.where(np.isnan(off), np.inf, off).max(initial=0))


def measure(recipe: Recipe) -> Measured:
    """Time both on inputs of full size, turn by turn, so that a busy moment hits both."""
    arguments = recipe.inputs()
    best = [float("inf")] * 2
    end = time.perf_counter() + SECONDS
    for turn in range(TURNS):
        for side, call in enumerate((recipe.run, recipe.expected)):
            start = time.perf_counter()
            call(*arguments)
            best[side] = min(best[side], (time.perf_counter() - start) * 1e3)
        if turn > 0 and time.perf_counter() > end:
            break
    return Measured(ours=best[0], twin=best[1])
