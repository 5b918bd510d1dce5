"""The wgpu device of the tests: a visible skip where there is none.

lavapipe computes on processors (Debian's `mesa-vulkan-drivers`), wgpu comes from PyPI with the
extra `wgpu`. `CUBEPY_TEST_WGPU=0` leaves these tests out.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import pytest

from cubepy.errors import RuntimeUnavailable
from cubepy.runtime import registry

__all__ = ["NAME", "needs_wgpu", "on_wgpu"]

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
