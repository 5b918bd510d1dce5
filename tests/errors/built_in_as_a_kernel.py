# mypy: ignore-errors
# ruff: noqa
import cubepy as cb


def run():
    cb.cube(abs)
