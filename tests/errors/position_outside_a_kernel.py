# mypy: ignore-errors
# ruff: noqa
import cubepy as cb


def run():
    range(cb.ABSOLUTE_POS)
