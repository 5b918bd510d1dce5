"""Kernels by task, each a file of its own: text, kernels, a call, and what it must give.

A recipe's file has a docstring (title, what, what to watch for), `KERNELS` to show, `run`, which
launches them on the default device, `expected`, the same in NumPy or SciPy, and `inputs` of a
`SIZE` worth timing or a `SMALL` one. The page in docs/ is made of these files.
"""

from examples.cookbook.page import page
from examples.cookbook.recipe import Measured, Recipe, difference, measure
from examples.cookbook.recipes import RECIPES

__all__ = ["RECIPES", "Measured", "Recipe", "difference", "measure", "page"]
