"""`cubepy doctor`: versions, runtimes and devices, and why something is not there."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterator
from importlib.metadata import version

from cubepy import cache, config
from cubepy.errors import CubeError
from cubepy.runtime import Device, registry
from cubepy.target import Features
from cubepy.tools.peaks import measured_peaks

__all__ = ["doctor"]


def doctor(arguments: argparse.Namespace) -> int:
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
            for line in _facts(device):
                print(f"  {line}")
            for line in measured_peaks(device) if arguments.measure and name != _SLOW else ():
                print(f"  measured: {line}", flush=True)
    print("\n".join([*_not_there(), *_machine()]))
    return 0 if working else 1


# The interpreter has no peaks that would mean anything.
_SLOW = "reference"


def _facts(device: Device) -> Iterator[str]:
    """What the driver announces, and what trying found."""
    if device.description:
        yield device.description
    for name, values in (("announced", device.announced), ("probed", device.probed)):
        if values:
            listed = ", ".join(f"{key} {_shown(value)}" for key, value in values.items())
            yield f"{name}: {listed}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


# Runtimes of other languages, which this version does not have.
_PLANNED = {"cuda": "PTX"}


def _not_there() -> Iterator[str]:
    for name, language in _PLANNED.items():
        if name not in registry().names:
            yield f"{name}: not available: this version of cubepy runs no {language}"


def _machine() -> Iterator[str]:
    """The processor as kernels are compiled for it, threads, and where compiled code is kept."""
    try:
        device, runtime = registry().device("cpu"), registry().runtime("cpu")
    except CubeError as error:
        yield f"processor: {error}"
    else:
        yield f"processor: {_processor(device.target.features)}"
        yield f"threads: {runtime.num_threads}"
    entries = cache.store().entries()
    size = sum(entry.size for entry in entries)
    state = "" if config.current().cache.enabled else " (switched off)"
    yield f"cache: {len(entries)} entries, {size} bytes in {cache.store().folder}{state}"


def _processor(features: Features) -> str:
    words = [features.cpu_name or "unknown", f"vectors of {features.vector_bits} bits"]
    words += [word for word, there in (
        ("mask registers", features.mask_registers),
        ("fma", features.fma),
        ("half conversions", features.half_conversion),
    ) if there]  # fmt: skip
    return ", ".join(words)


def _described(device: Device) -> str:
    features = device.target.features
    memory = "works on host memory" if device.host_memory else "has memory of its own"
    planes = f"planes of {features.plane_dim}" if features.plane_dim else "planes of several sizes"
    units = f"up to {features.max_cube_units} units a cube"
    return f"target {device.target}, {planes}, {units}, {memory}"
