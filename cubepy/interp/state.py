"""What the machine knows while a batch runs: values of ops, memories, clocks, wanted reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from cubepy.errors import ConfigError
from cubepy.interp.batch import Batch
from cubepy.interp.clock import Clock
from cubepy.interp.facts import Facts
from cubepy.interp.masks import Mask, Value, has_lane, merge, union
from cubepy.interp.memory import Memory
from cubepy.ir import Op
from cubepy.location import Loc
from cubepy.records import dataclass, field
from cubepy.runtime import Prints
from cubepy.target import Target

__all__ = ["Context", "Reports", "Slot", "State", "Watch"]

RACES = ("none", "shared", "all")
SWITCH = ("off", "on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """Which faults are looked for. Accesses outside and waits without end always are.

    `races`: "none", "shared" (memory of cubes), or "all" (buffers too, several times slower).
    `unwritten`: reads of shared and private memory that nothing has written. `barriers`: barriers
    and plane ops that some units of the cube or plane do not reach.
    """

    races: str = "shared"
    unwritten: bool = True
    barriers: bool = True

    @staticmethod
    def of(target: Target) -> Reports:
        """The options `races`, `unwritten` and `barriers` of a target."""
        races = _one_of(target, "races", RACES, "all")
        switches = {name: _one_of(target, name, SWITCH, "on") for name in ("unwritten", "barriers")}
        return Reports(
            races=races,
            unwritten=switches["unwritten"] == "on",
            barriers=switches["barriers"] == "on",
        )


def _one_of(target: Target, name: str, known: tuple[str, ...], default: str) -> str:
    value = target.option(name, default)
    if value not in known:
        raise ConfigError(f"target {str(target)!r}: {name} is one of {', '.join(known)}")
    return value


@dataclass(slots=True, eq=False)
class Slot:
    """A mutable variable of every unit."""

    value: Value | None = None

    def store(self, mask: Mask, value: Value) -> None:
        """Assign in the active units."""
        self.value = merge(mask, value, self.value)


@dataclass(slots=True, kw_only=True, eq=False)
class Context:
    """A loop, branch, block or call being run by the units in `mask`.

    `ended` are the units that left it for good (`break`, `leave`, `return`), `continued` those that
    wait for its next trip; `exits` and `waits` tell where they went, for reports.
    """

    op: Op | None
    mask: Mask
    ended: Mask = False
    continued: Mask = False
    exits: list[tuple[Op, Mask]] = field(default_factory=list)
    waits: list[tuple[Op, Mask]] = field(default_factory=list)

    def leave(self, op: Op, mask: Mask) -> None:
        """Units leave for good."""
        self.ended = union(self.ended, mask)
        self.exits.append((op, mask))

    def wait(self, op: Op, mask: Mask) -> None:
        """Units wait for the next trip."""
        self.continued = union(self.continued, mask)
        self.waits.append((op, mask))

    def trip(self, mask: Mask) -> None:
        """A trip of a loop begins."""
        self.mask, self.continued, self.waits = mask, False, []


#: Told of an op that has been done, and in which units.
Watch: TypeAlias = "Callable[[State, Op, Mask], None]"


@dataclass(slots=True, kw_only=True, eq=False)
class State:
    """`values` holds, for each op, an array, a :class:`Slot`, a :class:`Memory` or call results.

    `calls` are the calls being run, and `cube_memory` keeps shared memory by them: there is one per
    cube and call path, however often its op runs. `contexts` are the constructs being run.
    `prints` are those of the launch so far; `watch` is told of ops that touch more than values.
    """

    batch: Batch
    reports: Reports
    clock: Clock
    values: dict[Op, Any]
    facts: Facts
    kernel_name: str
    prints: Prints
    watch: Watch | None = None
    calls: tuple[Op, ...] = ()
    cube_memory: dict[tuple[Op, ...], Memory] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)

    def parting(self, lane: int) -> tuple[str, Loc] | None:
        """Where an absent unit left the path of the present ones, as a note of a report."""
        for context in self.contexts:
            for op, mask in (*context.exits, *context.waits):
                if has_lane(mask, lane):
                    return f"{self.batch.name(lane)} left here", op.loc
            if context.op is not None and not has_lane(context.mask, lane):
                return f"{self.batch.name(lane)} took another way here", context.op.loc
        return None
