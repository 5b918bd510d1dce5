# mypy: ignore-errors
# ruff: noqa
import cubepy as cb


def run():
    lines = ["import cubepy as cb\n", "@cb.cube\n", "def hidden(x):\n", "    x[0] = 1.0\n"]
    exec("".join(lines), {})
