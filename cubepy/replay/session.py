"""A debugger in a replayed unit: Python's own, which stays out of cubepy's lines."""

from __future__ import annotations

import pdb  # noqa: T100 - it is what was asked for
from bdb import BdbQuit
from itertools import starmap

from cubepy.replay.program import RecordEnds, Replay
from cubepy.replay.recording import Recording

__all__ = ["step_through"]


def step_through(replay: Replay, recording: Recording, debugger: pdb.Pdb | None = None) -> None:
    """Run the unit under `pdb`, stopped at its first line.

    Variables have the kernel's names; arrays are as the launch left them. A launch that ended with
    a fault is replayed up to there, and then raises it. Leaving the debugger leaves the program, by
    `BdbQuit`, as it does anywhere else.
    """
    chosen = debugger or pdb.Pdb(skip=["cubepy.*", "numpy.*"])
    ended: list[object] = []
    try:
        # `runcall` keeps to itself how the call ended; nothing of Python's stands between.
        chosen.runcall(ended.extend, starmap(replay.function, [()]))
    except RecordEnds:
        ended.append(None)
    if not ended:
        raise BdbQuit
    if recording.fault is not None:
        raise recording.fault
