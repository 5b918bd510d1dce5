"""`cubepy doctor`: versions, runtimes and devices, and why something is not there."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version

from cubepy.errors import CubeError
from cubepy.runtime import Device, registry

__all__ = ["doctor"]


def doctor(_: argparse.Namespace) -> int:
    """Print what this machine offers; the exit status is 1 if no runtime works."""
    print(f"cubepy {version('cubepy')}, Python {platform.python_version()}, {platform.machine()}")
    working = 0
    for name in registry().names:
        try:
            devices = registry().runtime(name).devices()
        except CubeError as error:
            print(f"{name}: not available: {error}")
            continue
        working += bool(devices)
        for number, device in enumerate(devices):
            print(f"{name}:{number}: {_described(device)}")
    return 0 if working else 1


def _described(device: Device) -> str:
    features = device.target.features
    memory = "works on host memory" if device.host_memory else "has memory of its own"
    planes = f"planes of {features.plane_dim}" if features.plane_dim else "planes of several sizes"
    units = f"up to {features.max_cube_units} units a cube"
    return f"target {device.target}, {planes}, {units}, {memory}"
