# mypy: ignore-errors
import cubepy as cb


def run():
    cb.Stream("cpu")
