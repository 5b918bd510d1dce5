"""What a device can do, as plain data: passes and emitters ask a feature, never a name.

The values for a machine level come from its architecture's definition; a runtime replaces them by
what its probe found. Plane size, vector registers and the ops a target evaluates natively all stand
here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cubepy.errors import ConfigError

__all__ = ["Features", "features_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """`plane_dim`: units of a plane (0: a run-time value). `vector_bits`: width of a CPU vector
    register.

    `mask_registers`: the CPU has mask registers (AVX-512). `fma`: one rounding in hardware.
    `cpu_features`: LLVM's feature string of a CPU target. `types`: names of the scalar types that
    can be computed with. `max_cube_units`, `shared_bytes`: limits of a cube.
    """

    plane_dim: int = 4
    vector_bits: int = 128
    mask_registers: bool = False
    fma: bool = False
    triple: str = ""
    cpu_name: str = ""
    cpu_features: str = ""
    max_cube_units: int = 1024
    shared_bytes: int = 256 * 1024
    types: frozenset[str] = field(
        default_factory=lambda: frozenset(
            [
                "bool",
                "i8",
                "i16",
                "i32",
                "i64",
                "u8",
                "u16",
                "u32",
                "u64",
                "index",
                "f16",
                "bf16",
                "f32",
                "f64",
            ]
        )
    )


# level: (vector bits, mask registers, fma, LLVM features beyond the CPU name, triple)
_CPU_LEVELS: dict[str, tuple[int, bool, bool, str]] = {
    "x86-64-v2": (128, False, False, "x86_64-unknown-linux-gnu"),
    "x86-64-v3": (256, False, True, "x86_64-unknown-linux-gnu"),
    "x86-64-v4": (512, True, True, "x86_64-unknown-linux-gnu"),
    "neoverse-n1": (128, False, True, "aarch64-unknown-linux-gnu"),
}


def _cpu(machine: str) -> Features:
    if machine in ("", "native"):
        from_host = _host_level()
        return _cpu(from_host)
    if machine not in _CPU_LEVELS:
        raise ConfigError(f"no CPU {machine!r}: known are native, {', '.join(_CPU_LEVELS)}")
    bits, masks, fma, triple = _CPU_LEVELS[machine]
    return Features(
        plane_dim=bits // 32,
        vector_bits=bits,
        mask_registers=masks,
        fma=fma,
        cpu_name=machine,
        triple=triple,
    )


def _host_level() -> str:
    return "x86-64-v4"


def features_of(language: str, machine: str) -> Features:
    """The features of a target as far as its name tells; raises ConfigError for an unknown
    machine.
    """
    if language == "cpu":
        return _cpu(machine)
    if language == "reference":
        return Features(plane_dim=int(machine) if machine else 4)
    return Features(plane_dim=32)
