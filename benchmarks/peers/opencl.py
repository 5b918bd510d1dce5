"""The OpenCL runtimes for CPUs: Intel's, which cubepy's CPU target has to keep up with, and PoCL.

Intel's comes from PyPI (`pip install '.[opencl-cpu]'`) and needs no root: an .icd file written
for the occasion tells the loader where its library is. PoCL is the system's. Where one or a CPU it
runs on is missing, `open_device` raises `PeerUnavailable` with the reason. Nothing here knows
cubepy.
"""

import functools
import importlib
import importlib.metadata
import math
import os
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.peers.peer import OpenPeer, Peer, PeerUnavailable
from benchmarks.rows import Array, Call, Row
from benchmarks.timing import measure

__all__ = ["PEERS", "AnchorDevice", "fastest", "open_device", "runtime_library"]

RUNTIME_PACKAGE = "intel-opencl-rt"
RUNTIME_LIBRARY = "libintelocl.so"
SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorDevice:
    """A CPU device, open, with a queue. `driver` is the pyopencl module."""

    driver: ModuleType
    context: Any
    queue: Any
    name: str
    version: str


def runtime_library() -> Path:
    """Where pip has put the library of Intel's runtime."""
    try:
        files = importlib.metadata.files(RUNTIME_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise PeerUnavailable(f"{RUNTIME_PACKAGE} is not installed") from error
    for file in files:
        if file.name == RUNTIME_LIBRARY:
            return Path(str(file.locate())).resolve()
    raise PeerUnavailable(f"{RUNTIME_PACKAGE} brings no {RUNTIME_LIBRARY} on this machine")


@functools.cache
def load_driver() -> ModuleType:
    """Import pyopencl with the loader looking at Intel's runtime and the system's PoCL.

    The loader reads the variable when the first platform is asked for, so this comes first.
    """
    vendors = Path(tempfile.mkdtemp(prefix="opencl-vendors-"))
    for installed in SYSTEM_VENDORS.glob("pocl*.icd"):
        shutil.copy(installed, vendors)
    try:
        (vendors / "intel.icd").write_text(f"{runtime_library()}\n", encoding="utf-8")
    except PeerUnavailable:
        if not list(vendors.iterdir()):
            raise
    os.environ["OCL_ICD_VENDORS"] = str(vendors)
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    try:
        return importlib.import_module("pyopencl")
    except ImportError as error:
        raise PeerUnavailable(f"pyopencl cannot be imported: {error}") from error


def open_device(threads: int | None = None, platform: str = "Intel") -> AnchorDevice:
    """Open the CPU device of a platform, on `threads` threads if nobody opened it before."""
    if threads is not None:
        os.environ["DPCPP_CPU_NUM_CUS"] = os.environ["POCL_CPU_MAX_CU_COUNT"] = str(threads)
    driver = load_driver()
    if platform == "Intel":
        runtime_library()  # says what is missing
    try:
        devices = [
            device
            for each in driver.get_platforms()
            if platform in each.name
            for device in each.get_devices(driver.device_type.CPU)
        ]
    except driver.Error as error:
        raise PeerUnavailable(f"the OpenCL loader finds no platform: {error}") from error
    if not devices:
        raise PeerUnavailable(f"no CPU device of {platform} here")
    context = driver.Context([devices[0]])
    return AnchorDevice(
        driver=driver,
        context=context,
        queue=driver.CommandQueue(context),
        name=devices[0].name,
        version=devices[0].driver_version,
    )


def _build(device: AnchorDevice, row: Row) -> Any:
    """Compile, with `FP_CONTRACT OFF` as the source says and no relaxed arithmetic."""
    with warnings.catch_warnings():
        # The compiler always talks; pyopencl warns that it did.
        warnings.simplefilter("ignore", device.driver.CompilerWarning)
        program = device.driver.Program(device.context, row.opencl).build()
    (kernel,) = program.all_kernels()  # some compilers keep `exp` and the like to themselves
    return kernel


def _calls(device: AnchorDevice, row: Row) -> list[Call]:
    """Check one call's answer; gives a call for each work-group size."""
    function = _build(device, row)
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
    _check_answer(device, row, host, bound)
    most = device.context.devices[0].max_work_group_size
    sizes = [size for size in row.local_sizes if size is None or math.prod(size) <= most]
    return [functools.partial(call, size) for size in sizes]


def fastest(device: AnchorDevice, row: Row) -> Call | None:
    """The call with the best of the row's work-group sizes."""
    if not row.source:
        return None
    calls = _calls(device, row)
    if len(calls) == 1:
        return calls[0]
    return min(calls, key=lambda call: measure(call, repeats=3, warm_up=1))


def _check_answer(device: AnchorDevice, row: Row, host: list[Any], bound: list[Any]) -> None:
    """A fast wrong answer is no anchor."""
    arrays: list[Array] = []
    for argument, buffer in zip(host, bound, strict=True):
        if isinstance(argument, np.ndarray):
            arrays.append(np.empty_like(argument))
            device.driver.enqueue_copy(device.queue, arrays[-1], buffer)
    if not row.is_right(arrays):
        raise AssertionError(f"{row.name}: the answer of {device.name} is wrong")


def _peer(name: str, platform: str) -> Peer:
    def open_peer(threads: int) -> OpenPeer:
        device = open_device(threads, platform)

        def prepare(row: Row) -> Call | None:
            try:
                return fastest(device, row)
            except device.driver.Error:  # an extension that the platform does not have
                return None

        return OpenPeer(version=device.version, prepare=prepare)

    return Peer(name=name, open=open_peer)


PEERS = (_peer("Intel OpenCL", "Intel"), _peer("PoCL", "Portable Computing Language"))
