"""The door to pyopencl: finding platforms, building programs, saying what an error means.

Drivers register themselves in a folder of the system. Intel's runtime for CPUs that pip installs is
found beside this Python, which no loader looks at by itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyopencl as cl
from pyopencl._cl import _Program

from cubepy.errors import BackendError, CubeError, DeviceLostError, LaunchError, OutOfMemoryError
from cubepy.location import excerpt
from cubepy.runtime import AGAIN, Device
from cubepy.target import Artifact

__all__ = [
    "binary_of",
    "build",
    "error_for",
    "explained",
    "load_binary",
    "open_devices",
    "program_of",
]

_VENDORS = "OCL_ICD_VENDORS"
_SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
_PACKAGED = "libintelocl.so"
_searching = threading.Lock()
# Where compilers say that an error is: `7:12: error: …` or `error: file.cl:7:12: …`.
_PLACES = (
    re.compile(r"(\d+):\d+: (?:fatal )?error"),
    re.compile(r"error: [^\n:]*:(\d+):\d+:"),
)
_BEST_FIRST = (cl.device_type.GPU, cl.device_type.ACCELERATOR, cl.device_type.CPU)


def open_devices() -> list[Any]:
    """All devices, those of GPUs first; an empty list where there is no driver."""
    with _searching, _vendors():
        try:
            platforms = cl.get_platforms()
        except cl.LogicError:  # the loader found no driver
            return []
        found = [device for platform in platforms for device in _devices_of(platform)]
    return sorted(found, key=_rank)


def _devices_of(platform: Any) -> Sequence[Any]:
    try:
        devices: Sequence[Any] = platform.get_devices()
    except cl.RuntimeError:  # a driver without a device
        return ()
    return [device for device in devices if device.available and device.compiler_available]


def _rank(device: Any) -> tuple[int, bool, str]:
    kind = next((n for n, kind in enumerate(_BEST_FIRST) if device.type & kind), len(_BEST_FIRST))
    return kind, "Portable" in device.platform.name, device.platform.name


@contextlib.contextmanager
def _vendors() -> Iterator[None]:
    """While the loader looks for drivers: a folder that names the packaged one too.

    The loader reads it once a process, when the first platform is asked for.
    """
    packaged = Path(sys.prefix, "lib", _PACKAGED)
    if _VENDORS in os.environ or not packaged.exists():
        yield
        return
    folder = Path(tempfile.mkdtemp(prefix="cubepy-opencl-"))
    try:
        for known in sorted(_SYSTEM_VENDORS.glob("*.icd")):
            shutil.copy(known, folder)
        (folder / "cubepy-packaged.icd").write_text(f"{packaged}\n", encoding="utf-8")
        os.environ[_VENDORS] = str(folder)
        yield
    finally:
        os.environ.pop(_VENDORS, None)
        shutil.rmtree(folder, ignore_errors=True)


def build(context: Any, device: Any, artifact: Artifact, options: str) -> Any:
    """The program of an artifact's text; BackendError with the compiler's words and the kernel's
    line.
    """
    try:
        return program_of(context, device, artifact.text, options)
    except BackendError as error:
        error.add_note(f"while building {artifact.kernel_name}")
        for place in _PLACES:
            found = place.search(error.output)
            loc = artifact.line_map.get(int(found[1])) if found else None
            if loc is not None:
                error.add_note(f"{loc}: from this line of the kernel\n{excerpt(loc)}")
                break
        raise


def program_of(context: Any, device: Any, text: str, options: str) -> Any:
    """A program built from text; BackendError with the compiler's words."""
    # The class below pyopencl's Program: that one keeps a store of its own, and warns of remarks.
    program = _Program(context, text)
    try:
        program._build(options.encode(), [device])  # noqa: SLF001
    except cl.Error as error:
        log = str(program.get_build_info(device, cl.program_build_info.LOG))
        raise BackendError(f"{device.name} does not build a program", log or str(error)) from error
    return program


def load_binary(context: Any, device: Any, binary: bytes) -> Any:
    """A program from what `binary_of` gave."""
    with explained("a program from the store"):
        program = _Program(context, [device], [binary])
        program._build(b"", [device])  # noqa: SLF001
    return program


def binary_of(program: Any) -> bytes:
    """What the driver made of a program."""
    binaries: Sequence[bytes] = program.get_info(cl.program_info.BINARIES)
    return bytes(binaries[0])


@contextlib.contextmanager
def explained(what: str, device: Device | None = None) -> Iterator[None]:
    """Turns a driver's error into one of the project's own, and marks a device that is lost."""
    try:
        yield
    except cl.Error as error:
        raise error_for(error, what, device) from error


_STATUS = cl.status_code
_MEMORY = frozenset(
    {
        _STATUS.MEM_OBJECT_ALLOCATION_FAILURE,
        _STATUS.OUT_OF_HOST_MEMORY,
        _STATUS.INVALID_BUFFER_SIZE,
    }
)
_LOST = frozenset({_STATUS.DEVICE_NOT_AVAILABLE})
_SIZES = frozenset(
    {
        _STATUS.INVALID_WORK_GROUP_SIZE,
        _STATUS.INVALID_WORK_ITEM_SIZE,
        _STATUS.INVALID_GLOBAL_WORK_SIZE,
        _STATUS.OUT_OF_RESOURCES,
    }
)


def error_for(error: Any, what: str, device: Device | None = None) -> CubeError:
    """The project's own error for one of the driver's; marks the device if that is lost."""
    code, said = error.code, str(error).splitlines()[0]
    if code in _MEMORY or isinstance(error, cl.MemoryError):
        return OutOfMemoryError(f"{what}: the device has not enough memory ({said})")
    if code in _LOST:
        if device is not None:
            device.lost = True
        return DeviceLostError(f"{what}: the device is gone ({said})\n{AGAIN}")
    if code in _SIZES:
        return LaunchError(f"{what}: the device refuses the sizes ({said})")
    return BackendError(f"{what}: the driver complains", said)
