# mypy: ignore-errors
# ruff: noqa
import cubepy as cb


def run():
    @cb.cube(fast_math={"nnan", "quick"})
    def kernel(x):
        x[0] = 1.0
