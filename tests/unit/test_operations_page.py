"""docs/ops.md is what `cubepy ops` prints, and says of each op what the table says."""

from pathlib import Path

import pytest

from cubepy.ir import ops
from cubepy.tools import main
from cubepy.tools.recorded_runs import Runs, recorded_runs

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
    assert [cell.split()[0] for cell in page["rotl"][5:7]] == ["library", "own"]
    assert [cell.split()[0] for cell in page["exp"][5:7]] == ["library", "library"]
    assert [cell.split()[0] for cell in page["call"][5:7]] == ["own", "inlined"]


def test_every_op_has_run_on_the_reference_and_the_cpu() -> None:
    for name, cells in rows().items():
        agreed = [cell.partition(" ")[2] for cell in cells[5:7]]
        assert all(count.isdecimal() for count in agreed) is (name != "param"), name


def test_what_a_device_refuses_is_counted_and_named() -> None:
    record = {
        "add": {"agreed": ["i8, i8", "f32, f32"], "refused": ["f64, f64"]},
        "cast": {"agreed": ["bool, to i8"], "wrong": ["f64, to i8"]},
        "exp": {"refused": ["f64"]},
    }
    runs = Runs(device="a device", rows=record)
    assert [runs.count(row) for row in ("add", "cast", "exp", "sub")] == [
        "2 of 3", "1 of 2", "0 of 1", "",
    ]  # fmt: skip
    assert runs.share("i8") == "2 of 3"
    text = "\n".join(recorded_runs({"cpu": runs, "wgsl": Runs(device="", rows={})}))
    assert "| `f64` | 0 of 3 |" in text
    assert "Refused by cpu: `add` (f64, f64); `exp` (f64)." in text
    assert "wgsl" not in text
