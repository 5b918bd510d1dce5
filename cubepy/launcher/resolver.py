"""From arguments to a compiled kernel: bind, specialise, compile if need be, check access."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cubepy import frontend, ir
from cubepy.compiler import Program
from cubepy.errors import LaunchError
from cubepy.launcher.binding import bound_arguments
from cubepy.records import dataclass, replace
from cubepy.runtime import (
    ArrayFacts,
    Buffer,
    Device,
    Grid,
    LoadedKernel,
    MemoryLaunch,
    QuickLaunch,
    Stream,
    alias_classes,
    array_of,
    check_access,
    facts_of,
    find_array,
    launch,
    observers,
    quick_launch,
    recording_here,
    span_of,
    switches,
)

__all__ = ["Record", "Resolver"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """A resolved launch. `positions`: which leaf each parameter of the kernel is.

    `foreign` are the leaves that are arrays of other libraries, whose memory is asked for anew each
    time. `quick` is the short way, where it is open; `watched` are the variables it was made from.
    """

    kernel: LoadedKernel
    specialization: frontend.Specialization
    positions: tuple[int, ...]
    foreign: frozenset[int]
    quick: QuickLaunch | MemoryLaunch | None
    watched: frontend.Watched

    def own(self, values: Sequence[Any]) -> Sequence[Any]:
        """The arguments, those of other libraries as arrays of NumPy."""
        if not self.foreign:
            return values
        name = self.kernel.artifact.kernel_name
        return [
            array_of(value, f"{name}: argument {at}") if at in self.foreign else value
            for at, value in enumerate(values)
        ]

    def run(
        self, device: Device, grid: Grid, values: Sequence[Any], stream: Stream | None = None
    ) -> None:
        """Launch with all arguments, in the order of the leaves of its parameters.

        Inside a capture the launch is written down instead.
        """
        values = self.own(values)
        closed = switches.closed
        recording = recording_here() if closed else None
        if recording is not None:
            if stream is not None:
                raise LaunchError(
                    "a launch on a stream cannot be captured\n"
                    "  help: capture it without, and give the stream to replay"
                )
            recording.add(device, self.kernel, grid, values, self.positions, self.quick)
        elif self.quick is not None and stream is None and not (closed and observers):
            self.quick(grid, values)
        else:
            launch(device, self.kernel, grid, [values[at] for at in self.positions], stream)

    def repeated(
        self, device: Device, kernel: LoadedKernel, grid: Grid, values: Sequence[Any], count: int
    ) -> Callable[[], None]:
        """A function that launches so many times, in one call of machine code where that is open.

        `kernel` is this one, compiled in another way.
        """
        values = self.own(values)
        if isinstance(self.quick, QuickLaunch):
            words = self.quick.words(grid, values)
            replay = device.words_replay([(kernel, grid, words)] * count)
            if replay is not None:
                return replay
        ordered = [values[at] for at in self.positions]

        def run() -> None:
            for _ in range(count):
                launch(device, kernel, grid, ordered)

        return run


class Resolver:
    """What all launches of one function share: its parameters, its program, resolved launches."""

    def __init__(self, program: Program) -> None:
        source = program.source
        self.program = program
        self.name = source.name
        self.parameters = tuple(source.signature.parameters)
        self.structured = frontend.is_structured(source)
        leaves = frontend.leaves_of(source)
        self.leaves = tuple(leaf.name for leaf in leaves)
        wanted = dict(source.options).get("plane_dim", 0)
        assert isinstance(wanted, int)
        self.plane_dim = wanted
        self.signature = tuple(source.signature.parameters.values())
        by_name_only = any(each.kind is each.KEYWORD_ONLY for each in self.signature)
        # So many positional arguments are all there are, in order; -1: that never happens.
        self.positional = -1 if by_name_only or self.structured else len(self.parameters)
        self.comptime = tuple(leaf.annotation.kind == "comptime" for leaf in leaves)
        self._records: dict[tuple[frontend.LaunchOptions, Device], dict[Any, Record]] = {}

    def bind(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments in the order of the parameters' leaves, defaults included."""
        if not keywords and len(arguments) == self.positional:
            return tuple(arguments)
        bound = bound_arguments(self.name, self.program.source.signature, arguments, keywords)
        if not self.structured:
            return tuple(bound.arguments[name] for name in self.parameters)
        source = self.program.source
        parts = [frontend.taken_apart(source, *pair).values() for pair in bound.arguments.items()]
        return tuple(value for part in parts for value in part)

    def records(self, options: frontend.LaunchOptions, device: Device) -> dict[Any, Record]:
        """The resolved launches for one device and one set of options."""
        return self._records.setdefault((options, device), {})

    def specialize(
        self, options: frontend.LaunchOptions, values: Sequence[Any]
    ) -> tuple[frontend.Specialization, Mapping[str, ArrayFacts]]:
        """What the kernel is for these arguments, and the facts of those that are arrays."""
        return self._specialize(options, self._plain(values))

    def _specialize(
        self, options: frontend.LaunchOptions, values: Sequence[Any]
    ) -> tuple[frontend.Specialization, Mapping[str, ArrayFacts]]:
        arrays = {
            name: value
            for name, known, value in zip(self.leaves, self.comptime, values, strict=True)
            if not known and isinstance(value, Buffer | np.ndarray) and value.ndim
        }
        classes = alias_classes([span_of(array) for array in arrays.values()])
        facts = {name: facts_of(array) for name, array in arrays.items()}
        given = dict(zip(self.leaves, values, strict=True))
        specialization = frontend.specialize(
            self.program.source,
            {**given, **facts},
            replace(options, alias=tuple(zip(arrays, classes, strict=True))),
        )
        return specialization, facts

    def _plain(self, values: Sequence[Any]) -> list[Any]:
        """The values with arrays of other libraries as NumPy's."""
        plain = []
        for name, known, value in zip(self.leaves, self.comptime, values, strict=True):
            array = None if known else find_array(value, f"{self.name}: argument {name!r}")
            plain.append(value if array is None else array)
        return plain

    def resolve(
        self, options: frontend.LaunchOptions, device: Device, values: Sequence[Any]
    ) -> Record:
        """Specialise, compile if need be, and check what a launch must not be given."""
        plain = self._plain(values)
        specialization, facts = self._specialize(options, plain)
        kernel, watched = self.program.kernel(specialization, device)
        arrays = [
            facts[name] if isinstance(type, ir.BufferType) else None
            for name, type in specialization.types
        ]
        check_access(kernel.artifact, arrays)
        positions = tuple(self.leaves.index(name) for name in specialization.kernel_parameters)
        return Record(
            kernel=kernel,
            specialization=specialization,
            positions=positions,
            foreign=frozenset(
                at
                for at, pair in enumerate(zip(values, plain, strict=True))
                if pair[0] is not pair[1]
            ),
            quick=quick_launch(device, kernel, positions, plain, arrays),
            watched=watched,
        )
