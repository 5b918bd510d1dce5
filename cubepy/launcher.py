"""From a call with arguments to a launch: bind, find the compiled kernel or make it, launch.

All launchers of one function share a :class:`Resolver`. What a call resolved to is kept by cheap
facts of its arguments, so that a call like an earlier one costs microseconds; a captured name that
changed since makes it resolve anew.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cubepy import config, frontend, ir
from cubepy.compiler import Observe, Program, Stages, build
from cubepy.errors import ArgumentError, LaunchError
from cubepy.runtime import (
    ArrayFacts,
    Buffer,
    Device,
    Grid,
    LoadedKernel,
    QuickLaunch,
    Triple,
    alias_classes,
    array_of,
    check_access,
    check_cube_dim,
    cube_dim_over,
    default_device,
    device_of,
    facts_of,
    grid_of,
    grid_over,
    launch,
    launch_key,
    quick_launch,
    span_of,
    triple,
)
from cubepy.target import Features, Target

__all__ = ["Launcher", "PreparedLaunch", "Resolver", "Work"]

# Resolved launches that a function keeps for one device and one set of options.
KEPT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The sizes of a launch as written: a shape to run over, or counts and dims of cubes."""

    shape: tuple[int, ...] | None = None
    cube_count: Triple = (1, 1, 1)
    cube_dim: Any = (1, 1, 1)
    check: str = "auto"

    def on(self, features: Features) -> tuple[Grid, frontend.LaunchOptions]:
        """The grid, and what the kernel is compiled for, on a device with these features."""
        if self.shape is None:
            cube_dim = _with_plane_size(self.cube_dim, features)
            check_cube_dim(cube_dim, features)
            grid = grid_of(self.cube_count, cube_dim)
        else:
            cube_dim = cube_dim_over(self.shape, features)
            grid = grid_over(self.shape, cube_dim)
        automatic = self.check == "auto"
        options = frontend.LaunchOptions(
            cube_dim=cube_dim,
            over_rank=0 if self.shape is None else len(self.shape),
            check=config.current().compilation.check if automatic else self.check,
            plane_dim=features.plane_dim,
        )
        return grid, options


def _with_plane_size(cube_dim: Any, features: Features) -> Triple:
    """`cube_dim` as three numbers, `PLANE` in it replaced by the device's plane size."""
    parts = cube_dim if isinstance(cube_dim, tuple | list) else (cube_dim,)
    planes = [part is frontend.PLANE for part in parts]
    if any(planes) and features.plane_dim == 0:
        raise LaunchError(
            "cube_dim is PLANE, and planes of this device have several sizes\n"
            "  help: give the number of units"
        )
    sizes = [
        features.plane_dim if plane else part for plane, part in zip(planes, parts, strict=True)
    ]
    return triple(sizes if len(sizes) != 1 else sizes[0], "cube_dim")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Record:
    """A resolved launch. `positions`: which argument each parameter of the kernel is.

    `quick` is the short way, where it is open. `names` and `cells` are the captured variables with
    the values they must still have.
    """

    kernel: LoadedKernel
    positions: tuple[int, ...]
    quick: QuickLaunch | None
    names: _Names
    cells: _Cells

    def run(self, device: Device, grid: Grid, values: Sequence[Any]) -> None:
        """Launch with all arguments, in the order of the function's parameters."""
        if self.quick is not None:
            self.quick(grid, values)
        else:
            launch(device, self.kernel, grid, [values[at] for at in self.positions])

    def is_current(self) -> bool:
        """Whether every captured name still has the value that the kernel was compiled for."""
        for namespace, name, value in self.names:
            if namespace.get(name) is not value:
                return False
        return all(_content(cell) is value for cell, value in self.cells)


_DELETED = object()


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # deleted since
        return _DELETED


_Names = tuple[tuple[Mapping[str, Any], str, Any], ...]
_Cells = tuple[tuple[types.CellType, Any], ...]


def _watched(captures: frontend.Captures) -> tuple[_Names, _Cells]:
    """The variables behind captured values, with what they held."""
    names: dict[tuple[int, str], tuple[Mapping[str, Any], str, Any]] = {}
    cells: dict[int, tuple[types.CellType, Any]] = {}
    for function, values in captures.values.items():
        closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for path in values:
            root = path[0]
            if root in closure:
                value = closure[root].cell_contents
                cells[id(closure[root])] = (closure[root], value)
            else:
                value = function.__globals__[root]
                names[id(function.__globals__), root] = (function.__globals__, root, value)
            for name in path[1:]:
                namespace, value = vars(value), getattr(value, name)
                names[id(namespace), name] = (namespace, name, value)
    return tuple(names.values()), tuple(cells.values())


class Resolver:
    """What all launches of one function share: its parameters, its program, resolved launches."""

    def __init__(self, program: Program) -> None:
        source = program.source
        self.program = program
        self.name = source.name
        self.parameters = tuple(source.signature.parameters)
        self.comptime = tuple(
            frontend.is_comptime(source.annotations.get(name)) for name in self.parameters
        )
        self._records: dict[tuple[frontend.LaunchOptions, Device], dict[Any, _Record]] = {}

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters, defaults included."""
        if not keywords and len(arguments) == len(self.parameters):
            return tuple(arguments)
        try:
            bound = self.program.source.signature.bind(*arguments, **keywords)
        except TypeError as error:
            written = ", ".join(self.parameters)
            raise ArgumentError(f"{self.name}({written}): {error}") from error
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self.parameters)

    def records(self, options: frontend.LaunchOptions, device: Device) -> dict[Any, _Record]:
        """The resolved launches for one device and one set of options."""
        return self._records.setdefault((options, device), {})

    def specialize(
        self, options: frontend.LaunchOptions, values: Sequence[Any]
    ) -> tuple[frontend.Specialization, Mapping[str, ArrayFacts]]:
        """What the kernel is for these arguments, and the facts of those that are arrays."""
        arrays = dict(self._arrays(values))
        classes = alias_classes([span_of(array) for array in arrays.values()])
        facts = {name: facts_of(array) for name, array in arrays.items()}
        given = dict(zip(self.parameters, values, strict=True))
        specialization = frontend.specialize(
            self.program.source,
            {**given, **facts},
            replace(options, alias=tuple(zip(arrays, classes, strict=True))),
        )
        return specialization, facts

    def _arrays(self, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """Arguments that are arrays with at least one axis, by parameter."""
        for name, known, value in zip(self.parameters, self.comptime, values, strict=True):
            if not known and (isinstance(value, Buffer) or hasattr(value, "__array_interface__")):
                array = array_of(value, f"{self.name}: argument {name!r}")
                if array.ndim:
                    yield name, array

    def resolve(
        self, options: frontend.LaunchOptions, device: Device, values: Sequence[Any]
    ) -> _Record:
        """Specialise, compile if need be, and check what a launch must not be given."""
        specialization, facts = self.specialize(options, values)
        kernel = self.program.kernel(specialization, device)
        arrays = [
            facts[name] if isinstance(type, ir.BufferType) else None
            for name, type in specialization.types
        ]
        check_access(kernel.artifact, arrays)
        positions = tuple(self.parameters.index(name) for name in specialization.kernel_parameters)
        watched, cells = _watched(specialization.captures)
        return _Record(
            kernel=kernel,
            positions=positions,
            quick=quick_launch(device, kernel, positions, values, arrays),
            names=watched,
            cells=cells,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """How a launcher runs on one device."""

    device: Device
    grid: Grid
    options: frontend.LaunchOptions
    records: dict[Any, _Record] = field(repr=False)


class Launcher:
    """A kernel with its sizes, device and check: call it with arguments."""

    __slots__ = ("_device", "_plans", "_resolver", "_work")

    def __init__(self, resolver: Resolver, work: Work, device: Device | None) -> None:
        self._resolver = resolver
        self._work = work
        self._device = device
        self._plans: dict[Device, _Plan] = {}

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        resolver = self._resolver
        if keywords or len(arguments) != len(resolver.parameters):
            arguments = resolver.bind(arguments, keywords)
        plan = self._plan(arguments)
        key = launch_key(arguments, resolver.comptime, frontend.comptime_key)
        record = plan.records.get(key)
        if record is None or not record.is_current():
            record = self._resolve(plan, key, arguments)
        record.run(plan.device, plan.grid, arguments)

    def _plan(self, arguments: Sequence[Any]) -> _Plan:
        device = self._device or device_of(arguments) or default_device()
        plan = self._plans.get(device)
        if plan is None:
            grid, options = self._work.on(device.target.features)
            records = self._resolver.records(options, device)
            plan = _Plan(device=device, grid=grid, options=options, records=records)
            self._plans[device] = plan
        return plan

    def _resolve(self, plan: _Plan, key: Any, arguments: Sequence[Any]) -> _Record:
        if len(plan.records) >= KEPT:
            plan.records.clear()
        record = self._resolver.resolve(plan.options, plan.device, arguments)
        plan.records[key] = record
        return record

    def prepare(self, *arguments: Any, **keywords: Any) -> PreparedLaunch:
        """Compile for these arguments. The result takes arguments of the same types only."""
        values = self._resolver.bind(arguments, keywords)
        plan = self._plan(values)
        key = launch_key(values, self._resolver.comptime, frontend.comptime_key)
        return PreparedLaunch(self._resolver, plan, self._resolve(plan, key, values), key)

    def inspect(
        self,
        *arguments: Any,
        target: str | Target | None = None,
        observe: Observe | None = None,
        **keywords: Any,
    ) -> Stages:
        """What the kernel becomes for these arguments, stage by stage; needs no device.

        `observe(name, kernel)` is called with the IR after every pass, first with "lowered".
        """
        values = self._resolver.bind(arguments, keywords)
        if target is None:
            chosen = (self._device or device_of(values) or default_device()).target
        else:
            chosen = Target.parse(target) if isinstance(target, str) else target
        _, options = self._work.on(chosen.features)
        specialization, _ = self._resolver.specialize(options, values)
        source = self._resolver.program.source
        return build(source, specialization, chosen, observe=observe)


class PreparedLaunch:
    """A launch with types, sizes and device settled: call it with arguments of those types."""

    __slots__ = ("_key", "_plan", "_record", "_resolver")

    def __init__(self, resolver: Resolver, plan: _Plan, record: _Record, key: Any) -> None:
        self._resolver = resolver
        self._plan = plan
        self._record = record
        self._key = key

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        resolver, record, plan = self._resolver, self._record, self._plan
        values = resolver.bind(arguments, keywords)
        if launch_key(values, resolver.comptime, frontend.comptime_key) != self._key:
            raise ArgumentError(
                f"{resolver.name}: prepared for arguments of other types, layouts or overlaps\n"
                "  help: prepare it again, or call the kernel itself"
            )
        record.run(plan.device, plan.grid, values)
