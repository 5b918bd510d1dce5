"""What `k.over(…)` and `k[…]` give: sizes and a device, to be called with arguments.

What a call resolved to is kept by cheap facts of its arguments, so that a call like an earlier one
costs microseconds; a captured name that changed since makes it resolve anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cubepy import frontend
from cubepy.compiler import Observe, Stages, build
from cubepy.errors import ArgumentError
from cubepy.launcher.resolver import Record, Resolver
from cubepy.launcher.work import Work
from cubepy.runtime import Device, Grid, default_device, device_of, launch_key
from cubepy.target import Target

__all__ = ["Launcher", "PreparedLaunch"]

# Resolved launches that a function keeps for one device and one set of options.
KEPT = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """How a launcher runs on one device."""

    device: Device
    grid: Grid
    options: frontend.LaunchOptions
    records: dict[Any, Record] = field(repr=False)


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
        if keywords or len(arguments) != resolver.positional:
            arguments = resolver.bind(arguments, keywords)
        plan = self._plan(arguments)
        key = launch_key(arguments, resolver.comptime, frontend.comptime_key)
        record = plan.records.get(key)
        if record is None or not record.watched.unchanged():
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

    def _resolve(self, plan: _Plan, key: Any, arguments: Sequence[Any]) -> Record:
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

    def __init__(self, resolver: Resolver, plan: _Plan, record: Record, key: Any) -> None:
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
