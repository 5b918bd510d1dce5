"""What the emitter for CPUs chose, written down as it writes the code.

The body is emitted in versions (whole gangs, edges) and pieces of it more than once; what was
chosen for an op is collected over all of them and becomes one decision. :mod:`reasons` says in a
user's terms why an access or a test came out as it did.
"""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.ir import Op, Scalar
from cubepy.ir.analyses import Shape, Unbounded
from cubepy.location import Loc
from cubepy.records import dataclass, field
from cubepy.target import Decision, Topic

__all__ = ["EDGES", "Notes"]

_Subject = tuple[Topic, Loc, str]
EDGES = "edges"


@dataclass(slots=True, kw_only=True)
class Notes:
    """`version` is the one being emitted, "" or EDGES; `op` the access being emitted; `unbounded`
    says why accesses are not tested ahead.
    """

    version: str = ""
    op: Op | None = None
    unbounded: Mapping[Op, Unbounded] = field(default_factory=dict)
    _found: dict[_Subject, dict[str, dict[str, None]]] = field(default_factory=dict)

    def add(self, topic: Topic, op: Op, text: str, subject: str = "") -> None:
        """Write down what was chosen for an op."""
        versions = self._found.setdefault((topic, op.loc, subject), {})
        versions.setdefault(self.version, {})[text] = None

    def access(self, topic: Topic, memory: Op, text: str) -> None:
        """The same for the access being emitted; it is about its memory."""
        self.add(topic, self.op or memory, text, memory.name)

    def value(self, op: Op, shape: Shape) -> None:
        """How a value with a name in the kernel differs between units."""
        if self.version != EDGES and isinstance(op.type, Scalar):
            self.add(Topic.VALUE, op, _described(shape), op.name)

    def decisions(self) -> tuple[Decision, ...]:
        """One of each op, in the order they were taken; for edges where these differ."""
        made = []
        for (topic, loc, subject), versions in self._found.items():
            usual = versions.get("", {})
            edges = [text for text in versions.get(EDGES, {}) if text not in usual]
            parts = ["; ".join(usual)] if usual else []
            if edges:
                parts.append(("at the edges: " if usual else "") + "; ".join(edges))
            text = "; ".join(parts)
            made.append(Decision(topic=topic, loc=loc, subject=subject, text=text))
        return tuple(made)


def _described(shape: Shape) -> str:
    if shape.level == 0:
        return "the same in every unit: one scalar"
    if shape.level == 2:
        return "differs between units: vectors"
    if not shape.stride:
        return "the same in all units of a vector: a scalar each"
    step = f"by {shape.stride} " if shape.stride != 1 else ""
    return f"rises {step}from unit to unit: the scalar of the first".replace("by -", "by −")
