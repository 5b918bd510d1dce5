"""What processor this process runs on, and on how many of its cores it may run.

`host()` is the machine that code is generated for by default; `processor_count()` is how many
threads are worth having, by affinity mask and cgroup limits. Nothing here compiles or starts
anything.
"""

from __future__ import annotations

import functools
import math
import os
import platform
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

from cubepy.cache import digest_of, key_of, store
from cubepy.late import late_import
from cubepy.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Machine", "host", "host_architecture", "processor_count", "supports", "toolchain"]

_ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

# What the x86-64 psABI levels ask for, in LLVM's feature names; each level adds to the one before.
_V2 = ("cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_LEVELS: dict[str, tuple[str, ...]] = {
    "": (),
    "generic": (),
    "x86-64": (),
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": _V4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine to generate code for, in LLVM's words; features look like `+avx2,-sse4a`."""

    triple: str
    cpu: str = "generic"
    features: str = ""

    @property
    def architecture(self) -> str:
        """The first part of the triple: `x86_64`, `aarch64`."""
        return self.triple.partition("-")[0]


@functools.cache
def host() -> Machine:
    """The machine this process runs on. LLVM is asked once a processor; the answer is kept."""
    parts = [
        ("kind", b"host"),
        ("processor", _processor()),
        ("system", f"{sys.platform} {platform.machine()}".encode()),
        ("toolchain", toolchain().encode()),
    ]
    words = store().get_or_make(key_of(parts, "this processor"), _ask_llvm).decode().split("\n")
    triple, cpu, features = words
    return Machine(triple=triple, cpu=cpu, features=features)


def _ask_llvm() -> bytes:
    with late_import:
        from cubepy_cpu import llvm  # noqa: PLC0415 - a warm start does without it

    return "\n".join(llvm.describe_host()).encode()


def _processor() -> bytes:
    """What Linux says of the first processor, but for what changes all the time."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(1 << 14).partition(b"\n\n")[0]
    except OSError:
        return b""
    return b"\n".join(line for line in first.split(b"\n") if not line.startswith(_CHANGING))


# Lines of /proc/cpuinfo that say nothing of what a processor can do.
_CHANGING = (
    b"cpu MHz",
    b"bogomips",
    b"BogoMIPS",
    b"processor",
    b"apicid",
    b"initial apicid",
    b"core id",
    b"physical id",
    b"siblings",
    b"cpu cores",
)


@functools.cache
def toolchain() -> str:
    """The version of LLVM that machine code depends on, a part of cache keys.

    It is read from llvmlite's file, because importing llvmlite takes longer than a warm start.
    """
    found = PathFinder.find_spec("llvmlite")
    for folder in () if found is None else found.submodule_search_locations or ():
        try:
            with open(os.path.join(folder, "_version.py"), "rb") as file:
                text = file.read()
        except OSError:
            continue
        return f"llvmlite {digest_of(text)}"
    with late_import:
        import llvmlite  # noqa: PLC0415 - packed in an unusual way; this always works

    return f"llvmlite {llvmlite.__version__}"


def supports(machine: Machine) -> bool:
    """Whether code for `machine` runs here: same architecture, no feature this processor lacks.

    CPU names other than the host's own and the x86-64 levels are not taken apart and count as
    unsupported.
    """
    here = host()
    if _architecture(machine.architecture) != _architecture(here.architecture):
        return False
    if machine.cpu != here.cpu and machine.cpu not in _LEVELS:
        return False
    present = set(here.features.split(","))
    asked = [f"+{name}" for name in _LEVELS.get(machine.cpu, ())]
    asked += [feature for feature in machine.features.split(",") if feature.startswith("+")]
    return all(feature in present for feature in asked)


def _architecture(name: str) -> str:
    return _ARCHITECTURES.get(name.lower(), name.lower())


def host_architecture() -> str:
    """`x86_64` or `aarch64` as this system spells itself, whatever the triple says."""
    return _architecture(platform.machine())


def processor_count() -> int:
    """How many processors this process may keep busy, by affinity mask and cgroup quota."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    quota = cgroup_quota()
    return max(1, allowed if quota is None else min(allowed, math.ceil(quota)))


def cgroup_quota(
    membership: str | Path = "/proc/self/cgroup", root: str | Path = "/sys/fs/cgroup"
) -> float | None:
    """The tightest CPU quota of this process's control groups, in processors; None without one."""
    lines = _read(os.fspath(membership)).splitlines()
    quotas = [quota for line in lines for quota in _quotas(line, os.fspath(root))]
    return min(quotas, default=None)


def _quotas(line: str, root: str) -> Iterator[float]:
    """Quotas of a group and of all above it: a parent's limit binds its children too."""
    number, _, rest = line.partition(":")
    controllers, _, group = rest.partition(":")
    if number != "0" and "cpu" not in controllers.split(","):
        return
    folder = root if number == "0" else os.path.join(root, "cpu")
    for name in ("", *group.strip("/").split("/")):
        folder = os.path.join(folder, name) if name else folder
        quota = _unified_quota(folder) if number == "0" else _legacy_quota(folder)
        if quota is not None:
            yield quota


def _unified_quota(folder: str) -> float | None:
    words = _read(os.path.join(folder, "cpu.max")).split()
    return _ratio(words[0], words[1]) if len(words) == 2 else None


def _legacy_quota(folder: str) -> float | None:
    return _ratio(
        _read(os.path.join(folder, "cpu.cfs_quota_us")),
        _read(os.path.join(folder, "cpu.cfs_period_us")),
    )


def _ratio(quota: str, period: str) -> float | None:
    """`quota / period`; "max", -1, and anything unreadable mean that there is no limit."""
    try:
        limit, length = int(quota), int(period)
    except ValueError:
        return None
    return limit / length if limit > 0 and length > 0 else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""
