# mypy: ignore-errors
import cubepy as cb


def run():
    cb.argmin(3.0, 1.0)
