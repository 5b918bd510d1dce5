"""`help` of a name that kernels use is about that name."""

import inspect
import pydoc

import pytest

import cubepy as cb
from cubepy.errors import CubeError
from cubepy.frontend import INTRINSICS, Intrinsic, Position, call_and_meaning

NAMES = [name for name in cb.__all__ if isinstance(getattr(cb, name), Intrinsic | Position)]


@pytest.mark.parametrize("name", NAMES)
def test_help_is_about_the_name(name: str) -> None:
    shown = pydoc.plain(pydoc.render_doc(getattr(cb, name)))
    assert f"cubepy.{name}\n" in shown
    text = inspect.getdoc(getattr(cb, name))
    assert text is not None
    assert text in inspect.cleandoc(shown.partition(f"cubepy.{name}\n")[2])
    assert all(len(line) <= 76 for line in text.splitlines()[1:])
    if name in INTRINSICS:
        assert text.startswith(f"cb.{name}(")


def test_texts_differ() -> None:
    assert len({inspect.getdoc(getattr(cb, name)) for name in NAMES}) == len(NAMES)


def test_what_becomes_of_writes_outside_is_told() -> None:
    for name in ("atomic_add", "atomic_store", "atomic_compare_exchange"):
        assert "Outside" in call_and_meaning(name)[1]


def test_a_call_outside_of_a_kernel_is_still_an_error() -> None:
    with pytest.raises(CubeError, match="outside a kernel"):
        cb.shared(cb.f32, 8)
