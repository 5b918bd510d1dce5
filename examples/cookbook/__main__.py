"""`python -m examples.cookbook` checks and times every recipe; `--page` prints the page instead."""

import sys

import numpy as np

from cubepy_cpu import num_threads
from examples.cookbook import RECIPES, difference, measure, page


def main(words: list[str]) -> int:
    """The exit status is 1 if a result is wrong."""
    if words == ["--page"]:
        print(page(RECIPES), end="")
        return 0
    print(f"{num_threads()} threads, NumPy {np.__version__}\n")
    print(f"{'recipe':<40} {'right':<6} {'cubepy':>11} {'NumPy':>12} {'ratio':>9}")
    right = True
    for recipe in RECIPES:
        good = difference(recipe, recipe.inputs()) <= recipe.tolerance
        right = right and good
        print(f"{recipe.title:<40} {'yes' if good else 'NO':<6} {measure(recipe)}", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
