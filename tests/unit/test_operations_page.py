"""docs/ops.md is what `cubepy ops` prints, and says of each op what the table says."""

from pathlib import Path

import pytest

from cubepy.ir import ops
from cubepy.tools import main

PAGE = Path(__file__).parents[2] / "docs" / "ops.md"


def test_the_page_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    assert capsys.readouterr().out == PAGE.read_text(encoding="utf-8"), "cubepy ops > docs/ops.md"


def rows() -> dict[str, list[str]]:
    page = PAGE.read_text(encoding="utf-8").partition("## Special values")[0]
    lines = page.replace("\\|", "¦").splitlines()
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:3] == "| `"
    ]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_every_op_has_a_line() -> None:
    assert list(rows()) == list(ops.BY_NAME)


def test_types_and_targets_of_some_ops() -> None:
    page = rows()
    assert page["select"][2] == "bool, any, any"
    assert page["shl"][2] == "integers, integers"
    assert page["lt"][2] == "numbers → bool"
    assert page["bit_or"][0] == "`¦`"
    assert page["plane_shuffle"][2].endswith(", integers")
    assert page["ldexp"][2] == "floats, i32"
    assert page["rotl"][5:7] == ["library", "own"]
    assert page["exp"][5:7] == ["library", "library"]
    assert page["call"][5:7] == ["own", "inlined"]
