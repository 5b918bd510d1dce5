# mypy: ignore-errors
import cubepy as cb


def run():
    cb.magnitude([3.0, 4.0])
