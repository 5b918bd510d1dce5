"""docs/errors.md has every class of error with what to do, and every message on file."""

import inspect

from cubepy import errors
from tests.docs.documents import ROOT
from tests.docs.errors_page import advice, page, records

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def classes() -> set[str]:
    kinds = (errors.CubeError, errors.CubeWarning)
    return {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, kinds)
    }


def test_the_page_is_what_the_records_say() -> None:
    """`python -m tests.docs.errors_page > docs/errors.md` writes it again."""
    assert page() == PAGE


def test_every_class_has_an_entry_with_a_fix() -> None:
    assert set(advice()) == classes()
    headings = [line.removeprefix("## ") for line in PAGE.splitlines() if line.startswith("## ")]
    assert sorted(headings) == sorted(classes())


def test_every_class_that_a_user_can_raise_at_will_has_a_record() -> None:
    bases = {"SourceError", "ReferenceFault"}
    # Texts of tools differ between machines, a lost device cannot be had for the asking, the front
    # end refuses barriers that diverge, and a warning is no error: their own tests hold these.
    elsewhere = {"BackendError", "DeviceLostError", "DivergentBarrierError", "CubeWarning"}
    assert classes() - {record.kind for record in records()} == bases | elsewhere
