# mypy: ignore-errors
import cubepy as cb


def run():
    cb.ue8m0.encode("three")
