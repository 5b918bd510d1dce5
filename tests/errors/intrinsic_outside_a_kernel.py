# mypy: ignore-errors
# ruff: noqa
import cubepy as cb


def run():
    cb.sqrt(2.0)
