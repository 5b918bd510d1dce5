"""One unit of a launch as plain Python, in the lines of its kernel, to be stepped through.

The launch runs on the interpreter, which writes down what the unit read from memory and heard from
other units. The unit then runs again, alone, as Python code made from the IR: with the same
meaning as on every device, whatever the kernel is made of, and stops where a debugger wants.
"""

from cubepy.replay.program import Replay, replay_of
from cubepy.replay.recording import Event, Recording, Unit, record, unit_at
from cubepy.replay.session import step_through

__all__ = [
    "Event",
    "Recording",
    "Replay",
    "Unit",
    "record",
    "replay_of",
    "step_through",
    "unit_at",
]
