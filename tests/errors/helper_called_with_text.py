# mypy: ignore-errors
# ruff: noqa
import cubepy as cb


@cb.cube
def half(v):
    return 0.5 * v


def run():
    half("1")
