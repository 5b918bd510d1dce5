"""What passes and emitters decided about a kernel and why, each tied to a place in its source.

A decision is written down by whoever takes it, when it is taken; nothing here works one out
afterwards. They are for people: no stage reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from cubepy.location import Loc
from cubepy.records import dataclass

__all__ = ["Decision", "Remark", "Topic", "no_remark"]


class Topic(Enum):
    """What a decision is about."""

    GANG = "gang"
    VALUE = "value"
    ACCESS = "access"
    BOUNDS = "bounds"
    MEMORY = "memory"
    BRANCH = "branch"
    LOOP = "loop"
    BARRIER = "barrier"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`text` says what was chosen and why; `subject` is the name in the kernel that it is about, or
    "".
    """

    topic: Topic
    loc: Loc
    text: str
    subject: str = ""

    def __str__(self) -> str:
        return f"{self.subject}: {self.text}" if self.subject else self.text


Remark = Callable[[Decision], None]


def no_remark(decision: Decision) -> None:
    """For those who do not ask."""
