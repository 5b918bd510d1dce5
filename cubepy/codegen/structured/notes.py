"""What an emitter of source text chose for a kernel and why, as decisions for people.

What is said of one place is said once, however often its code stands in the text: a body may be
written out twice, for cubes that lie inside altogether and for the others.
"""

from __future__ import annotations

from cubepy.ir import Op
from cubepy.location import Loc
from cubepy.target import Decision, Topic

__all__ = ["BY_EXCHANGE", "Notes"]

#: Of an atomic that the language has no function for.
BY_EXCHANGE = "a loop of compare and exchange: the language has no function for this type"
_UNTESTED = "not tested: its guard, its range or the launch says that it is inside"
_TESTED = "tested at each access"
_BOTH = "one test for a cube that lies inside altogether; in other cubes tested at each access"


class Notes:
    """Decisions in the order they were taken."""

    def __init__(self) -> None:
        self._said: dict[tuple[Topic, Loc, str, str], None] = {}
        self._tested: dict[tuple[Loc, str], set[bool]] = {}

    def add(self, topic: Topic, op: Op, text: str, subject: str = "") -> None:
        """What was chosen for an op; nothing for one that no line of the kernel is for."""
        if not op.loc.known:
            return
        self._said[topic, op.loc, subject or op.name, text] = None

    def access(self, op: Op, *, tested: bool) -> None:
        """Whether an access has a test of its own, in one of the copies of it."""
        self._tested.setdefault((op.loc, op.operands[0].name), set()).add(tested)

    def decisions(self) -> tuple[Decision, ...]:
        """All of them."""
        bounds = [
            Decision(topic=Topic.BOUNDS, loc=loc, subject=name, text=_bounds(found))
            for (loc, name), found in self._tested.items()
        ]
        return (
            *(
                Decision(topic=topic, loc=loc, subject=subject, text=text)
                for topic, loc, subject, text in self._said
            ),
            *bounds,
        )


def _bounds(found: set[bool]) -> str:
    if len(found) == 2:
        return _BOTH
    return _TESTED if True in found else _UNTESTED
