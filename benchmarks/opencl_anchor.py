"""Intel's OpenCL runtime for CPUs, the compiler that cubepy's CPU target has to keep up with.

It comes from PyPI (`pip install cubepy[opencl-cpu]`) and needs no root: an .icd file written for
the occasion tells the loader where its library is. Where it or a CPU it runs on is missing,
`open_device` raises `PeerUnavailable` with the reason. Nothing here knows cubepy.
"""

import functools
import importlib
import importlib.metadata
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.rows import Array, Row
from benchmarks.timing import Timing, measure

RUNTIME_PACKAGE = "intel-opencl-rt"
RUNTIME_LIBRARY = "libintelocl.so"


class PeerUnavailable(Exception):
    """A peer cannot be measured here; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorDevice:
    """Intel's CPU device, open, with a queue. `driver` is the pyopencl module."""

    driver: ModuleType
    context: Any
    queue: Any
    name: str
    version: str
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorResult:
    """The best of the work-group sizes tried; None is the runtime's own choice."""

    row: Row
    timing: Timing
    local_size: tuple[int, ...] | None


def runtime_library() -> Path:
    """Where pip has put the runtime's library."""
    try:
        files = importlib.metadata.files(RUNTIME_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise PeerUnavailable(f"{RUNTIME_PACKAGE} is not installed") from error
    for file in files:
        if file.name == RUNTIME_LIBRARY:
            return Path(str(file.locate())).resolve()
    raise PeerUnavailable(f"{RUNTIME_PACKAGE} brings no {RUNTIME_LIBRARY} on this machine")


def load_driver() -> ModuleType:
    """Import pyopencl with the loader looking at Intel's runtime alone.

    The loader reads the variable when the first platform is asked for, so this comes first.
    """
    library = runtime_library()
    vendors = Path(tempfile.mkdtemp(prefix="opencl-vendors-"))
    (vendors / "intel.icd").write_text(f"{library}\n", encoding="utf-8")
    os.environ["OCL_ICD_VENDORS"] = str(vendors)
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    try:
        return importlib.import_module("pyopencl")
    except ImportError as error:
        raise PeerUnavailable(f"pyopencl cannot be imported: {error}") from error


def open_device(threads: int | None = None) -> AnchorDevice:
    """Open Intel's CPU device, on `threads` threads if the process has not opened it before."""
    if threads is not None:
        os.environ["DPCPP_CPU_NUM_CUS"] = str(threads)
    driver = load_driver()
    try:
        devices = [
            device
            for platform in driver.get_platforms()
            if "Intel" in platform.name
            for device in platform.get_devices(driver.device_type.CPU)
        ]
    except driver.Error as error:
        raise PeerUnavailable(f"the OpenCL loader finds no platform: {error}") from error
    if not devices:
        raise PeerUnavailable("Intel's OpenCL runtime offers no CPU device here")
    device = devices[0]
    context = driver.Context([device])
    return AnchorDevice(
        driver=driver,
        context=context,
        queue=driver.CommandQueue(context),
        name=device.name,
        version=device.driver_version,
        # The device announces every core it sees, also when it was told to use fewer.
        threads=threads or device.max_compute_units,
    )


def build(device: AnchorDevice, row: Row) -> Any:
    """Compile, with `FP_CONTRACT OFF` as the source says and no relaxed arithmetic."""
    with warnings.catch_warnings():
        # The compiler always talks; pyopencl warns that it did.
        warnings.simplefilter("ignore", device.driver.CompilerWarning)
        program = device.driver.Program(device.context, row.opencl).build()
    return getattr(program, row.name)


def prepare(device: AnchorDevice, row: Row) -> dict[tuple[int, ...] | None, Callable[[], None]]:
    """Check one call's answer; gives a call for each work-group size."""
    function = build(device, row)
    host = row.arguments()
    flags = device.driver.mem_flags
    bound = [
        device.driver.Buffer(
            device.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=argument
        )
        if isinstance(argument, np.ndarray)
        else argument
        for argument in host
    ]

    def call(local_size: tuple[int, ...] | None) -> None:
        function(device.queue, row.global_size, local_size, *bound)
        device.queue.finish()

    call(row.local_sizes[0])
    check_answer(device, row, host, bound)
    return {size: functools.partial(call, size) for size in row.local_sizes}


def run_anchor(device: AnchorDevice, row: Row, *, repeats: int = 15) -> AnchorResult:
    """Check one call's answer, then time calls with each work-group size and keep the best."""
    calls = prepare(device, row)
    timed = {size: measure(call, repeats=repeats) for size, call in calls.items()}
    best = min(timed, key=lambda size: timed[size].best_ms)
    return AnchorResult(row=row, timing=timed[best], local_size=best)


def check_answer(device: AnchorDevice, row: Row, host: list[Any], bound: list[Any]) -> None:
    """A fast wrong answer is no anchor."""
    arrays: list[Array] = []
    for argument, buffer in zip(host, bound, strict=True):
        if isinstance(argument, np.ndarray):
            arrays.append(np.empty_like(argument))
            device.driver.enqueue_copy(device.queue, arrays[-1], buffer)
    if not row.is_right(arrays):
        raise AssertionError(f"{row.name}: Intel's answer is not NumPy's")
