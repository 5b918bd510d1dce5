"""What `k.over(…)` and `k[…]` give: sizes and a device, to be called with arguments.

What a call resolved to is kept by cheap facts of its arguments, so that a call like an earlier one
costs microseconds; a captured name that changed since makes it resolve anew. Where the device takes
calls in machine code, it is told of each call that went well, and `__call__` sees the others only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cubepy import frontend, ir
from cubepy.compiler import build, lower
from cubepy.errors import (
    ArgumentError,
    ConfigError,
    CubeError,
    LaunchError,
    NotPicklable,
    RuntimeUnavailable,
)
from cubepy.late import late_import
from cubepy.launcher import pickling
from cubepy.launcher.again import again_of
from cubepy.launcher.expectation import expected_call
from cubepy.launcher.resolver import Record, Resolver
from cubepy.launcher.tracebacks import short_tracebacks, shortened
from cubepy.launcher.work import Work
from cubepy.records import dataclass, field
from cubepy.runtime import (
    Device,
    Grid,
    Launched,
    LoadedKernel,
    NativeEntry,
    NativeKind,
    Stream,
    check_stream,
    default_device,
    device_of,
    launch_key,
    memory_owner,
    switches,
    target_here,
)
from cubepy.target import Target

if TYPE_CHECKING:
    from pdb import Pdb

    from cubepy.inspection import Inspection, LineTimes

__all__ = ["Launcher", "PreparedLaunch", "likely_device", "make_launcher"]

# Resolved launches that a function keeps for one device and one set of options.
KEPT = 4096
# Calls after which machine code hears again of what it may have forgotten, the first time.
PATIENCE = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """How a launcher runs on one device."""

    device: Device
    grid: Grid
    options: frontend.LaunchOptions
    records: dict[Any, Record] = field(repr=False)


class _Learnt:
    """That machine code was told of a call; it forgets some when it is told of too many.

    `patience`: how many such calls may come to Python until it is told again.
    """

    __slots__ = ("_epoch", "_misses", "patience", "record")

    def __init__(self, record: Record, patience: float) -> None:
        self.record = record
        self._epoch = switches.epoch
        self._misses = 0
        self.patience = patience

    def is_stale(self, record: Record) -> bool:
        """Whether machine code should be told again, now that such a call came here instead."""
        if self.record is not record or self._epoch != switches.epoch:
            return True
        self._misses += 1
        return self._misses >= self.patience


class Launcher:
    """A kernel with its sizes, device and check: call it with arguments."""

    __slots__ = (
        "_again",
        "_device",
        "_last",
        "_learnt",
        "_native",
        "_plans",
        "_recent",
        "_resolver",
        "_work",
    )

    def __init__(
        self,
        resolver: Resolver,
        work: Work,
        device: Device | None,
        native: NativeKind | None = None,
    ) -> None:
        self._resolver = resolver
        self._work = work
        self._device = device
        self._plans: dict[Device, _Plan] = {}
        self._native = native.attach(self, resolver.signature) if native is not None else None
        self._learnt: dict[Any, _Learnt] = {}
        self._last: _Learnt | None = None
        self._again: Launched | None = None
        self._recent: Record | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        again = self._again
        try:
            if again is None or keywords or not again(arguments):
                self._launch(arguments, keywords)
        except CubeError as error:
            raise shortened(error) from error.__cause__

    def _launch(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        resolver = self._resolver
        if keywords or len(arguments) != resolver.positional:
            arguments = resolver.bind(arguments, keywords)
        plan = self._plan(arguments)
        key = launch_key(arguments, resolver.comptime, frontend.comptime_key)
        record = self._record(plan, key, arguments)
        record.run(plan.device, plan.grid, arguments)
        self._remember(record, plan, arguments)
        if self._native is not None:
            learnt = self._last
            if learnt is None or learnt.record is not record:
                learnt = self._last = self._learnt.get(key)
            if learnt is None or learnt.is_stale(record):
                again = learnt is not None and learnt.record is record
                patience = 4 * learnt.patience if learnt is not None and again else PATIENCE
                usable = self._learn(self._native, record, plan, arguments)
                if len(self._learnt) >= KEPT:
                    self._learnt.clear()
                self._last = _Learnt(record, patience if usable else math.inf)
                self._learnt[key] = self._last

    def _remember(self, record: Record, plan: _Plan, arguments: Sequence[Any]) -> None:
        """Be quick with the next launch, if two of one sort came one after the other."""
        again, resolver = None, self._resolver
        if record is self._recent and resolver.positional == len(arguments):
            epoch = switches.epoch if self._device is None else None
            taught = self._native is not None
            again = again_of(record, plan.grid, arguments, resolver.comptime, epoch, taught=taught)
        self._again, self._recent = again, record

    def __repr__(self) -> str:
        device = "" if self._device is None else f" on {self._device.name}"
        return f"<{self._resolver.name}{self._work.written}{device}: call it with arguments>"

    def __reduce__(self) -> pickling.Again:
        work, planes = self._work.plain()
        place = pickling.reference(self._resolver.program.source)
        return pickling.launcher_again, (*place, work, planes, self._device)

    def __copy__(self) -> Launcher:
        return self

    def __deepcopy__(self, memory: object) -> Launcher:
        return self

    def _learn(
        self, native: NativeEntry, record: Record, plan: _Plan, arguments: Sequence[Any]
    ) -> bool:
        """Let machine code take the next call like this one; whether it can."""
        epoch = switches.epoch if self._device is None else None
        if self._resolver.structured:
            return False
        call = expected_call(record, memory_owner(plan.device), plan.grid, arguments, epoch)
        return call is not None and native.learn(call)

    def on(self, stream: Stream) -> Callable[..., None]:
        """The same launch on a stream: a call returns at once, unless an array is the host's."""
        check_stream(stream)
        device = self._device or stream.device
        if memory_owner(device) is not memory_owner(stream.device):
            raise LaunchError(
                f"the launch is on {device.name}, the stream is of {stream.device.name}\n"
                f"  help: make a stream of it: cb.device({device.name!r}).stream()"
            )

        def launch_on_stream(*arguments: Any, **keywords: Any) -> None:
            values = self._resolver.bind(arguments, keywords)
            plan = self._plan_for(device)
            key = launch_key(values, self._resolver.comptime, frontend.comptime_key)
            self._record(plan, key, values).run(plan.device, plan.grid, values, stream)

        return launch_on_stream

    def _plan(self, arguments: Sequence[Any]) -> _Plan:
        return self._plan_for(self._device or device_of(arguments) or default_device())

    def _plan_for(self, device: Device) -> _Plan:
        plan = self._plans.get(device)
        if plan is None:
            grid, options = self._work.on(device.target.features, self._resolver.plane_dim)
            records = self._resolver.records(options, device)
            plan = _Plan(device=device, grid=grid, options=options, records=records)
            self._plans[device] = plan
        return plan

    def _record(self, plan: _Plan, key: Any, arguments: Sequence[Any]) -> Record:
        record = plan.records.get(key)
        if record is None or not record.watched.unchanged():
            record = self._resolve(plan, key, arguments)
        return record

    def _resolve(self, plan: _Plan, key: Any, arguments: Sequence[Any]) -> Record:
        if len(plan.records) >= KEPT:
            plan.records.clear()
        record = self._resolver.resolve(plan.options, plan.device, arguments)
        plan.records[key] = record
        return record

    @short_tracebacks
    def prepare(self, *arguments: Any, **keywords: Any) -> PreparedLaunch:
        """Compile for these arguments. The result takes arguments of the same types only."""
        values = self._resolver.bind(arguments, keywords)
        plan = self._plan(values)
        key = launch_key(values, self._resolver.comptime, frontend.comptime_key)
        record = self._resolve(plan, key, values)
        native = plan.device.native_kind(PreparedLaunch)
        kind = PreparedLaunch if native is None else native.kind
        prepared: PreparedLaunch = kind(self._resolver, plan, record, key, native)
        prepared.learn(values)
        return prepared

    @short_tracebacks
    def inspect(
        self,
        *arguments: Any,
        target: str | Target | None = None,
        signature: str | None = None,
        **keywords: Any,
    ) -> Inspection:
        """What the kernel becomes for these arguments, stage by stage; needs no device.

        `signature` says what the arguments are in their place: `"x=f32[:], image=u8[:,:], n=i32"`.
        What its annotations tell may be left out, and what they leave open is assumed from what the
        kernel does with it, and said; without arguments that is so for all of them.
        """
        with late_import:
            from cubepy import inspection  # noqa: PLC0415 - launches need none of it

        source = self._resolver.program.source
        assumed: tuple[str, ...] = ()
        if signature is not None or not (arguments or keywords):
            if arguments:
                raise ArgumentError(
                    f"{source.name}.inspect: arguments and a signature\n"
                    "  help: the signature stands for arguments; give one of the two"
                )
            examples = inspection.example_arguments(source, signature or "")
            keywords, assumed = {**examples.values, **keywords}, examples.assumed
        values = self._resolver.bind(arguments, keywords)
        if target is None:
            chosen = (self._device or device_of(values) or default_device()).target
        else:
            chosen = target_here(target) if isinstance(target, str) else target
            if not isinstance(chosen, Target):
                raise ConfigError(
                    f"a target cannot be {target!r}: expects a text such as 'opencl', or a Target\n"
                    "  help: leave it out for the target of the device"
                )
        _, options = self._work.on(chosen.features, self._resolver.plane_dim)
        specialization, _ = self._resolver.specialize(options, values)
        return inspection.inspect(source, specialization, chosen, assumed=assumed)

    @short_tracebacks
    def time_lines(self, *arguments: Any, seconds: float = 1.0, **keywords: Any) -> LineTimes:
        """Launch again and again for so long; how much of the time each place of the kernel takes.

        The result is a `Counter` of samples, whose ratios mean something; printed, it shows the
        share of each line. Not every device can tell.
        """
        with late_import:
            from cubepy.inspection import LineTimes  # noqa: PLC0415 - launches need none of it

        values = self._resolver.bind(arguments, keywords)
        plan = self._plan(values)
        key = launch_key(values, self._resolver.comptime, frontend.comptime_key)
        record = self._record(plan, key, values)
        device = memory_owner(plan.device)
        stages = build(self._resolver.program.source, record.specialization, device.target)

        def repeated(kernel: LoadedKernel, count: int) -> Callable[[], None]:
            return record.repeated(device, kernel, plan.grid, values, count)

        return LineTimes(device.time_places(stages.artifact, repeated, seconds))

    @short_tracebacks
    def debug(
        self,
        *arguments: Any,
        unit: int | tuple[int, ...] = 0,
        debugger: Pdb | None = None,
        **keywords: Any,
    ) -> None:
        """Launch on the interpreter, then step through one unit in the kernel's own lines.

        `unit` is its ABSOLUTE_POS, or x, y, z. The debugger is Python's, unless another is given.
        """
        with late_import:
            from cubepy import replay  # noqa: PLC0415 - launches need none of it

        values = self._resolver.bind(arguments, keywords)
        notes: list[frontend.Note] = []
        grid, kernel, names, own = self.lowered(values, notes=notes)
        where = replay.unit_at(unit, grid, kernel, self._work.written)
        recording = replay.record(kernel, grid, own, where)
        around = frontend.names_around(self._resolver.program.source.function)
        given = dict(zip(names, own, strict=True))
        again = replay.replay_of(recording, given, around, notes)
        replay.step_through(again, recording, debugger)

    @property
    def lost(self) -> bool:
        """Whether the device that it was given is lost."""
        return self._device is not None and self._device.lost

    @property
    def parameters(self) -> Sequence[str]:
        """Names of the kernel's parameters, in order."""
        return self._resolver.parameters

    def bound(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Sequence[Any]:
        """All arguments in the order of `parameters`; ArgumentError if they do not fit."""
        return self._resolver.bind(arguments, keywords)

    def lowered(
        self,
        values: Sequence[Any],
        target: Target | None = None,
        *,
        notes: list[frontend.Note] | None = None,
    ) -> tuple[Grid, ir.Kernel, Sequence[str], Sequence[Any]]:
        """For bound arguments: the grid on a target, by default the interpreter, the kernel before
        any pass, and its parameters with what they are given. `notes` as of `frontend.lower`.
        """
        resolver, chosen = self._resolver, target or Target.parse("reference")
        grid, options = self._work.on(chosen.features, resolver.plane_dim)
        specialization, _ = resolver.specialize(options, values)
        names = specialization.kernel_parameters
        own = [values[resolver.leaves.index(name)] for name in names]
        return grid, lower(resolver.program.source, specialization, notes=notes), names, own

    def stepping(self, unit: int | tuple[int, ...]) -> DebugLauncher:
        """A launcher whose calls step through this unit."""
        return DebugLauncher(self._resolver, self._work, self._device, unit)

    def at(self, device: Device) -> Launcher:
        """The same launch on another device."""
        return make_launcher(self._resolver, self._work, device)


class PreparedLaunch:
    """A launch with types, sizes and device settled: call it with arguments of those types."""

    __slots__ = ("_again", "_key", "_native", "_plan", "_record", "_resolver")

    def __init__(
        self,
        resolver: Resolver,
        plan: _Plan,
        record: Record,
        key: Any,
        native: NativeKind | None = None,
    ) -> None:
        self._resolver = resolver
        self._plan = plan
        self._record = record
        self._key = key
        self._again: Launched | None = None
        self._native = native.attach(self, resolver.signature) if native is not None else None

    def __reduce__(self) -> pickling.Again:
        raise NotPicklable(
            f"{self._resolver.name}: a prepared launch belongs to its process\n"
            "  help: pickle the kernel or its launcher, and prepare it there"
        )

    def __copy__(self) -> PreparedLaunch:
        return self

    def __deepcopy__(self, memory: object) -> PreparedLaunch:
        return self

    @short_tracebacks
    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        if self._again is not None and not keywords and self._again(arguments):
            return
        resolver, record, plan = self._resolver, self._record, self._plan
        values = resolver.bind(arguments, keywords)
        if launch_key(values, resolver.comptime, frontend.comptime_key) != self._key:
            raise ArgumentError(
                f"{resolver.name}: prepared for arguments of other types, layouts or overlaps\n"
                "  help: prepare it again, or call the kernel itself"
            )
        if not record.watched.unchanged():
            record = self._record = resolver.resolve(plan.options, plan.device, values)
            self.learn(values)
        record.run(plan.device, plan.grid, values)
        if resolver.positional == len(values):
            taught = self._native is not None
            self._again = again_of(record, plan.grid, values, resolver.comptime, taught=taught)

    def learn(self, values: Sequence[Any]) -> None:
        """Let machine code take calls with values like these, if it can."""
        if self._native is not None and not self._resolver.structured:
            device, grid = memory_owner(self._plan.device), self._plan.grid
            call = expected_call(self._record, device, grid, values, None)
            if call is not None:
                self._native.learn(call)


class DebugLauncher(Launcher):
    """A launcher whose calls step through one unit."""

    __slots__ = ("_unit",)

    def __init__(
        self, resolver: Resolver, work: Work, device: Device | None, unit: int | tuple[int, ...]
    ) -> None:
        super().__init__(resolver, work, device)
        self._unit = unit

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        self.debug(*arguments, unit=self._unit, **keywords)


def make_launcher(resolver: Resolver, work: Work, device: Device | None) -> Launcher:
    """A launcher, whose calls start in machine code if the device they are likely for has that."""
    likely = device or likely_device()
    native = None if likely is None else likely.native_kind(Launcher)
    kind = Launcher if native is None else native.kind
    launcher: Launcher = kind(resolver, work, device, native)
    return launcher


def likely_device() -> Device | None:
    """The default device. None if it is not there: buffers may bring another, and a call says so
    if they do not.
    """
    try:
        return default_device()
    except RuntimeUnavailable:
        return None
