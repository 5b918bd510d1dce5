"""What a device can do, as plain data: passes and emitters ask a feature, never a name.

The values for a machine level come from its architecture's definition; a runtime replaces them by
what its probe found. Plane size, vector registers and the ops a target evaluates natively all stand
here.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Iterator, Mapping

from cubepy.errors import ConfigError
from cubepy.records import dataclass, fields

__all__ = ["Features", "features_of"]


_SCALARS = "bool i8 i16 i32 i64 u8 u16 u32 u64 index f16 bf16 f32 f64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """`plane_dim`: units of a plane (0: a run-time value). `vector_bits`: width of a CPU vector
    register.

    `mask_registers`: the CPU has mask registers (AVX-512). `fma`: one rounding in hardware.
    `half_conversion`: instructions between f16 and f32. `cpu_features`: LLVM's feature string of a
    CPU target. `types`: names of the scalar types that can be computed with. `max_cube_units`,
    `shared_bytes`: limits of a cube.

    For OpenCL C: `exact_division`: `/` and `sqrt` of f32 round correctly. `plane_sizes`: sub-groups
    that a kernel may ask for (None: planes of any size need nothing), by `plane_attribute`;
    `shuffle`: the function that exchanges values in them. `atomics_64`, `extended_atomics_64`:
    64-bit atomics, and those besides sums and exchanges. `memory_orders`: atomics may be ordered.
    `abreast`: units that a kernel without planes is asked to run side by side (0: as the compiler
    likes): a processor hides latency by several registers a value. `divides_by_doubles`: integers
    of 31 bits are divided as f64, which is quicker on processors. `long_cube`: most units of a cube
    of launches over very many units in a row (0: as of any other): a processor calls each cube.

    For WGSL: `pinned`: compilers behind it rewrite floats unless kept from it. `index_limit`: the
    most units of a launch, and elements along an axis (0: as many as an index counts).
    `most_buffers`: storage buffers that a kernel may have. `longs`: functions may use u64;
    `doubles`: f64 besides; `fma_doubles`: one rounding of f64 too. `float_sums`: there are atomic
    sums of f32 in buffers. `halves`: buffers may have elements of f16. `most_trips`: of all loops
    of a unit together, after which the driver ends them in silence (0: it does not).
    """

    plane_dim: int = 4
    vector_bits: int = 128
    mask_registers: bool = False
    fma: bool = False
    half_conversion: bool = True
    triple: str = ""
    cpu_name: str = ""
    cpu_features: str = ""
    max_cube_units: int = 1024
    shared_bytes: int = 256 * 1024
    types: frozenset[str] = frozenset(_SCALARS.split())
    exact_division: bool = True
    shuffle: str = ""
    plane_attribute: str = ""
    plane_sizes: frozenset[int] | None = None
    atomics_64: bool = True
    extended_atomics_64: bool = True
    memory_orders: bool = True
    abreast: int = 0
    divides_by_doubles: bool = False
    long_cube: int = 0
    pinned: bool = False
    index_limit: int = 0
    most_buffers: int = 1 << 16
    longs: bool = False
    doubles: bool = False
    fma_doubles: bool = False
    float_sums: bool = False
    halves: bool = False
    most_trips: int = 0
    most_nesting: int = 0

    def emulates_planes(self, plane_dim: int) -> bool:
        """Whether planes of this size go through memory of the cube, and need all its units."""
        return plane_dim > 1 and self.plane_sizes is not None and plane_dim not in self.plane_sizes

    def described(self) -> Iterator[str]:
        """Every feature with its value, in an order that does not change."""
        for entry in fields(self):
            value = getattr(self, entry.name)
            ordered = sorted(value) if isinstance(value, frozenset) else value
            yield f"{entry.name} {ordered!r}"


_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"

# What the levels of the x86-64 psABI, and one 64-bit Arm core, promise.
_CPUS: Mapping[str, Features] = {
    name: Features(
        plane_dim=bits // 32,
        vector_bits=bits,
        mask_registers=masks,
        fma=modern,
        half_conversion=modern,
        cpu_name=name,
        triple=triple,
    )
    for name, bits, masks, modern, triple in (
        ("x86-64-v2", 128, False, False, _X86),
        ("x86-64-v3", 256, False, True, _X86),
        ("x86-64-v4", 512, True, True, _X86),
        ("neoverse-n1", 128, False, True, _ARM),
    )
}


def _cpu(machine: str) -> Features:
    name = _host_level() if machine in ("", "native") else machine
    if name not in _CPUS:
        raise ConfigError(f"no CPU {machine!r}: known are native, {', '.join(_CPUS)}")
    return _CPUS[name]


@functools.cache
def _host_level() -> str:
    """The level this machine reaches, by what Linux says of it; the CPU device knows more."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return "neoverse-n1"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = set(file.read().split())
    except OSError:
        return "x86-64-v3"
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
        return "x86-64-v4"
    return "x86-64-v3" if {"avx2", "bmi2", "f16c", "fma"} <= flags else "x86-64-v2"


def _units_of_a_plane(machine: str) -> int:
    if not machine.isdecimal() or len(machine) > 9 or not int(machine):
        raise ConfigError(
            f"no interpreter {machine[:40]!r}: the number is that of the units of a plane\n"
            "  help: for example reference:8"
        )
    return int(machine)


def features_of(language: str, machine: str) -> Features:
    """The features of a target as far as its name tells; raises ConfigError for an unknown
    machine.
    """
    if language == "cpu":
        return _cpu(machine)
    if language == "reference":
        return Features(plane_dim=_units_of_a_plane(machine) if machine else 4)
    if language == "opencl":
        return _opencl(machine)
    if language == "wgsl":
        return _wgsl(machine)
    return Features(plane_dim=32)


def _opencl(machine: str) -> Features:
    """What a device of OpenCL 3.0 with sub-groups of a fixed size has."""
    if machine:
        raise ConfigError(f"no OpenCL machine {machine!r}: the target is `opencl`")
    return Features(
        plane_dim=32,
        shared_bytes=32 * 1024,
        max_cube_units=256,
        shuffle="sub_group_shuffle",
        plane_attribute=" __attribute__((intel_reqd_sub_group_size({})))",
        plane_sizes=frozenset({8, 16, 32}),
    )


def _wgsl(machine: str) -> Features:
    """What every device of WebGPU has; `naga` is the dialect of wgpu, without a device the same."""
    if machine not in ("", "naga"):
        raise ConfigError(f"no WGSL dialect {machine!r}: the targets are `wgsl` and `wgsl:naga`")
    return Features(
        plane_dim=32,
        max_cube_units=256,
        shared_bytes=16 * 1024,
        types=frozenset(_SCALARS.split()) - {"f64"},
        half_conversion=False,
        exact_division=False,
        plane_sizes=frozenset(),
        atomics_64=False,
        extended_atomics_64=False,
        memory_orders=False,
        pinned=True,
        index_limit=1 << 30,
        most_buffers=8,
    )
