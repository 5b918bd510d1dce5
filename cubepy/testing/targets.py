"""CPU targets worth testing: the levels of machine this one can run, gangs from 4 to 64 units."""

from __future__ import annotations

from cubepy.runtime import device
from cubepy.target import Target

__all__ = ["cpu_targets", "gang_of", "reference_for", "runs_here"]

_TARGETS = (
    "cpu",
    "cpu:x86-64-v2+gang=4",
    "cpu:x86-64-v2+gang=8",
    "cpu:x86-64-v3+gang=4",
    "cpu:x86-64-v3+gang=8",
    "cpu:x86-64-v3+gang=32",
    "cpu:x86-64-v4+gang=8",
    "cpu:x86-64-v4+gang=16",
    "cpu:x86-64-v4+gang=32",
    "cpu+gang=64",
)


def cpu_targets() -> tuple[str, ...]:
    """Names of devices whose code this machine can run."""
    return tuple(name for name in _TARGETS if runs_here(name))


def runs_here(name: str) -> bool:
    """Whether this machine can run the code of a CPU target."""
    target, here = Target.parse(name), device("cpu").target.features
    wanted = target.features
    same_kind = wanted.triple.partition("-")[0] == here.triple.partition("-")[0]
    return not target.machine or (same_kind and wanted.vector_bits <= here.vector_bits)


def gang_of(target: str) -> int:
    """The gang width that a device's name fixes; a large number where the compiler chooses."""
    return int(Target.parse(target).option("gang", "1024"))


def reference_for(target: str) -> str:
    """The reference device with the same plane size. It looks for races in shared memory only:
    looking everywhere takes several times as long.
    """
    return f"reference:{device(target).target.features.plane_dim}+races=shared"
