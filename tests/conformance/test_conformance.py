"""Every row of the op table on `reference` and `cpu`: what the table says, and the same bits.

Where a row has a tolerance, machine code must still agree with the reference to the bit, for both
run the same definition.
"""

import dataclasses

import pytest

from cubepy.ir import ops
from cubepy.runtime import Device, device
from cubepy.testing import (
    Case,
    Failure,
    cases_of,
    check_case,
    compare_outputs,
    reference_for,
    rows,
    run_case,
)
from cubepy.testing import record as record_module
from cubepy.testing.record import FOLDER, agreed, read_record, record_of

MACHINE = "cpu"
AGAIN = "python -m cubepy.testing.record {0} > cubepy/testing/records/{0}.json; cubepy ops"


def wrong_in(case: Case, reference: Device, machine: Device) -> list[str]:
    if case.raises is not None:
        return [str(one) for each in (reference, machine) for one in check_case(case, each)]
    expected = run_case(case, reference)
    same_bits = dataclasses.replace(case, expected={n: expected[n] for n in case.expected}, steps=0)
    return [
        *(f"reference: {one}" for one in compare_outputs(case, expected)),
        *(f"{MACHINE}: {one}" for one in compare_outputs(same_bits, run_case(case, machine))),
    ]


@pytest.mark.parametrize("row", rows())
def test_row_computes_what_the_table_says(row: str) -> None:
    reference, machine = device(reference_for(MACHINE)), device(MACHINE)
    cases = list(cases_of(row, machine.target.features.plane_dim))
    failures = [failure for case in cases for failure in wrong_in(case, reference, machine)]
    assert not failures, "\n".join(failures[:20])
    mine = agreed(cases)
    for language in ("reference", "cpu"):
        record = read_record(language)
        assert record is not None
        found = record["rows"].get(row)
        if found != mine:  # depends on the plane
            found_there = list(cases_of(row, record["plane_dim"]))
            assert found == agreed(found_there), f"stale: {AGAIN.format(language)}"


@pytest.mark.parametrize("language", [path.stem for path in sorted(FOLDER.glob("*.json"))])
def test_records_of_other_devices_are_of_these_cases(language: str) -> None:
    record, known = read_record(language), read_record("cpu")
    assert record is not None
    assert known is not None
    assert set(record["rows"]) == set(rows()), f"stale: {AGAIN.format(language)}"
    for row, found in record["rows"].items():
        if found["cases"] != known["rows"][row]["cases"]:  # depends on the plane
            cases = list(cases_of(row, record["plane_dim"]))
            assert found["cases"] == agreed(cases)["cases"], f"stale: {AGAIN.format(language)}"
        assert "wrong" not in found


def test_what_agreed_is_taken_over_where_the_cases_of_a_row_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there, names = device("reference"), ["add", "sub"]
    first = record_of(there, names)
    told = {name: dict(row) for name, row in first["rows"].items()}
    told["add"]["agreed"], told["add"]["refused"] = told["add"]["agreed"][:-1], ["f64, f64"]
    told["sub"]["cases"] = "others"
    ran: list[str] = []

    def counted(case: Case, machine: Device) -> list[Failure]:
        ran.append(case.name)
        return check_case(case, machine)

    monkeypatch.setattr(record_module, "check_case", counted)
    assert record_of(there, names, told)["rows"] == first["rows"]
    cases = [case.name for row in names for case in cases_of(row, first["plane_dim"])]
    assert ran == cases[len(told["add"]["agreed"]) :]


def test_what_changes_a_case_makes_a_record_stale() -> None:
    cases = list(cases_of("add", 8))
    other = dataclasses.replace(cases[0], kernel=cases[1].kernel)
    assert agreed([other, *cases[1:]]) != agreed(cases) != agreed(cases[1:])


def test_every_row_of_the_table_has_cases() -> None:
    # `param` is no operation; every case has some
    assert set(rows()) == set(ops.BY_NAME) - {"param"}
    for row in rows():
        assert next(iter(cases_of(row, 8))).expected


def test_a_row_without_cases_fails_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = dataclasses.replace(ops.BY_NAME["add"], name="unknown", evaluate=None)
    monkeypatch.setitem(ops.BY_NAME, "unknown", unknown)
    assert "unknown" in rows()
    with pytest.raises(LookupError, match="no conformance case for the op 'unknown'"):
        next(iter(cases_of("unknown", 8)))


def test_a_wrong_meaning_is_found_in_every_mode() -> None:
    """A sum that is a product: each mode of the case shows it."""
    (case,) = (each for each in cases_of("add", 8) if each.name == "add[i32, i32]")
    (wrong,) = (each for each in cases_of("mul", 8) if each.name == "mul[i32, i32]")
    swapped = dataclasses.replace(case, kernel=wrong.kernel)
    outputs = {failure.output for failure in check_case(swapped, device("reference"))}
    assert outputs == set(case.expected)
