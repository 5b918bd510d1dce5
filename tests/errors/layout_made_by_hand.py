# mypy: ignore-errors
import cubepy as cb


def run():
    cb.Layout((4, 4))
