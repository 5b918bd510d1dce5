# mypy: ignore-errors
import cubepy as cb


def run():
    cb.e4m3(3.5)
