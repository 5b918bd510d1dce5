"""The wgpu device of the tests: a visible skip where there is none.

lavapipe computes on processors (Debian's `mesa-vulkan-drivers`), wgpu comes from PyPI with the
extra `wgpu`. `CUBEPY_TEST_WGPU=0` leaves these tests out.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest

from cubepy.errors import RuntimeUnavailable
from cubepy.records import replace
from cubepy.runtime import TargetedDevice, device, registry

__all__ = ["NAME", "needs_wgpu", "on_wgpu", "wgpu_with", "wrong_answers_are_found"]

NAME = "wgpu"
LEFT_OUT = os.environ.get("CUBEPY_TEST_WGPU") == "0"


@functools.cache
def missing() -> str:
    """Why there is no device, or nothing."""
    if LEFT_OUT:
        return "CUBEPY_TEST_WGPU=0 leaves out tests on wgpu devices"
    try:
        registry().runtime(NAME).devices()
    except RuntimeUnavailable as unavailable:
        return str(unavailable).splitlines()[0]
    return ""


needs_wgpu = pytest.mark.skipif(bool(missing()), reason=missing() or "there is a device")


def on_wgpu(*others: str) -> list[Any]:
    """The device as parameter of a test, behind others that are always there."""
    return [*others, pytest.param(NAME, id=NAME, marks=needs_wgpu)]


def wgpu_with(**found: Any) -> TargetedDevice:
    """The device as if its probe had found these features."""
    there = device(NAME)
    target = replace(there.target, features=replace(there.target.features, **found))
    return TargetedDevice(there, f"{NAME} with {found}", target)


def wrong_answers_are_found(
    found: Callable[[Any], Mapping[str, bool]], finding: str, text: tuple[ModuleType, str],
    mistake: tuple[str, str], patch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """AssertionError where the kernel `text` of a probe, with `mistake[1]` for `mistake[0]`, gives
    the device what `finding` stands for all the same.
    """
    handle = device(NAME).handle  # type: ignore[attr-defined]
    if not found(handle)[finding]:
        pytest.skip("the device does not have it")
    written = getattr(*text)
    assert mistake[0] in written
    patch.setattr(*text, written.replace(*mistake))
    assert not found(handle)[finding]
