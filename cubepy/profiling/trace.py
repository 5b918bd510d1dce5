"""A profile as a trace in the Trace Event Format, which browsers and Perfetto show.

Each device is a process of the trace with one thread a track; what was compiled stands in a process
of its own. Times are microseconds since the first thing that happened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cubepy.records import dataclass, field

if TYPE_CHECKING:
    from cubepy.profiling.profiler import Compiled, LaunchTime, Profile

__all__ = ["as_json"]

_COMPILER = "compiler"


def as_json(profile: Profile) -> str:
    """The text of the file."""
    launches, compiled = profile.launches, profile.compiled_kernels
    begun = [*(each.begin for each in launches), *(each.begin for each in compiled)]
    start = min(begun, default=0.0)
    tracks = _Tracks()
    slices: list[dict[str, Any]] = [
        *(_slice(tracks.of(_COMPILER, each.track), each, start, {}) for each in compiled),
        *(
            _slice(tracks.of(each.device, each.track), each, start, _details(each))
            for each in launches
        ),
    ]
    return json.dumps({"traceEvents": [*tracks.names(), *slices], "displayTimeUnit": "ns"})


@dataclass(slots=True, kw_only=True)
class _Tracks:
    """Numbers of processes and threads, by their names in the order in which they were met."""

    processes: dict[str, int] = field(default_factory=dict)
    threads: dict[tuple[str, str], int] = field(default_factory=dict)

    def of(self, process: str, thread: str) -> tuple[int, int]:
        number = self.processes.setdefault(process, len(self.processes) + 1)
        return number, self.threads.setdefault((process, thread), len(self.threads) + 1)

    def names(self) -> Iterator[dict[str, Any]]:
        """What tells a viewer the names."""
        for process, number in self.processes.items():
            yield _named("process_name", number, 0, process)
        for (process, thread), number in self.threads.items():
            yield _named("thread_name", self.processes[process], number, thread)


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _slice(
    track: tuple[int, int], each: LaunchTime | Compiled, start: float, details: dict[str, Any]
) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": "launch" if details else "compile",
        "name": each.kernel,
        "pid": track[0],
        "tid": track[1],
        "ts": (each.begin - start) * 1e6,
        "dur": (each.end - each.begin) * 1e6,
        "args": details or {"device": each.device},
    }


def _details(launch: LaunchTime) -> dict[str, Any]:
    made: dict[str, Any] = {"target": launch.target, "shape": list(launch.shape)}
    if launch.octets is not None and launch.seconds:
        made["GB/s"] = round(launch.octets / launch.seconds / 1e9, 3)
    return made
