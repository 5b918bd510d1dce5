"""The OpenCL devices of the tests, Intel's for CPUs and PoCL: a visible skip where one is missing.

Intel's comes from PyPI with the extra `opencl-cpu`, PoCL from the system (`pocl-opencl-icd`).
Drivers take minutes to build the kernels: `CUBEPY_TEST_OPENCL=0` leaves these tests out.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import pytest

from cubepy.errors import RuntimeUnavailable
from cubepy.runtime import registry

__all__ = ["KINDS", "LEFT_OUT", "found", "on_each", "on_the_first"]

LEFT_OUT = os.environ.get("CUBEPY_TEST_OPENCL") == "0"
KINDS = {"intel": "Intel", "pocl": "Portable Computing Language"}


@functools.cache
def found() -> dict[str, str]:
    """Names of devices by kind."""
    if LEFT_OUT:
        return {}
    try:
        devices: Any = registry().runtime("opencl").devices()
    except RuntimeUnavailable:
        return {}
    return {
        kind: device.name
        for device in reversed(devices)
        for kind, platform in KINDS.items()
        if platform in device.description
    }


def _param(kind: str) -> Any:
    missing = kind not in found()
    reason = f"no OpenCL driver of {KINDS[kind]} is installed"
    if LEFT_OUT:
        reason = "CUBEPY_TEST_OPENCL=0 leaves out tests on OpenCL devices"
    skip = pytest.mark.skipif(missing, reason=reason)
    return pytest.param(found().get(kind, kind), id=f"opencl-{kind}", marks=skip)


def on_each() -> list[Any]:
    """Every kind of device, as parameters of a test."""
    return [_param(kind) for kind in KINDS]


def on_the_first() -> list[Any]:
    """One device that is there, or Intel's as a skip."""
    return [_param(next((kind for kind in KINDS if kind in found()), "intel"))]
