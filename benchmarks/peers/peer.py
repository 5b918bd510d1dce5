"""What a peer is: somebody else's compiler or library that runs rows of the table."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.rows import Call, Row

__all__ = ["OpenPeer", "Peer", "PeerUnavailable"]


class PeerUnavailable(Exception):
    """A peer cannot be measured here; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPeer:
    """A peer ready to run. `prepare` gives a call for a row, its answer already checked, or None
    for a row that the peer has no way to write.
    """

    version: str
    prepare: Callable[[Row], Call | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A name, and how to open it on a number of threads (PeerUnavailable where it cannot be)."""

    name: str
    open: Callable[[int], OpenPeer]
