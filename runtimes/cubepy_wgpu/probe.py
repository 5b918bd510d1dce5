"""What a wgpu device can do."""

from __future__ import annotations

from typing import Any

from cubepy.records import replace
from cubepy.target import Features, features_of

__all__ = ["features_of_device"]


def features_of_device(adapter: Any, device: Any) -> Features:
    """The features of WGSL with the limits of the device."""
    limits = dict(device.limits)
    return replace(
        features_of("wgsl", "naga"),
        max_cube_units=min(
            limits["max-compute-invocations-per-workgroup"],
            limits["max-compute-workgroup-size-x"],
        ),
        shared_bytes=limits["max-compute-workgroup-storage-size"],
        most_buffers=limits["max-storage-buffers-per-shader-stage"],
    )
