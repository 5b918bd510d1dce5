"""`cubepy cache …`: look at the disk store, shrink it, check it, explain a miss."""

from __future__ import annotations

import argparse
import datetime as dt

from cubepy import cache
from cubepy.errors import CubeError

__all__ = ["clear", "explain", "list_entries", "prune", "verify"]

SHOWN = 12  # characters of a digest, enough to name an entry


def list_entries(_: argparse.Namespace) -> int:
    """Print every entry, the least recently used first, and the sum."""
    entries = cache.store().entries()
    for entry in entries:
        used = dt.datetime.fromtimestamp(entry.used).isoformat(" ", "seconds")
        print(f"{entry.key.digest[:SHOWN]}  {entry.size:>9}  {used}  {entry.key.label}")
    folder = cache.store().folder
    print(f"{len(entries)} entries, {sum(entry.size for entry in entries)} bytes in {folder}")
    return 0


def prune(arguments: argparse.Namespace) -> int:
    """Drop entries until the rest fits."""
    freed = cache.store().prune(arguments.max_bytes)
    print(f"{freed} bytes freed")
    return 0


def clear(_: argparse.Namespace) -> int:
    """Drop every entry."""
    freed = cache.store().prune(0)
    print(f"{freed} bytes freed in {cache.store().folder}")
    return 0


def verify(_: argparse.Namespace) -> int:
    """Remove damaged entries; the exit status is 1 if there were any."""
    damaged = cache.store().verify()
    for path in damaged:
        print(f"removed {path}")
    print(f"{len(damaged)} damaged entries")
    return 1 if damaged else 0


def explain(arguments: argparse.Namespace) -> int:
    """Print which parts of an entry's key differ from those of the entry most like it."""
    entries = cache.store().entries()
    found = [entry for entry in entries if entry.key.digest.startswith(arguments.digest)]
    if len(found) != 1:
        raise CubeError(f"{len(found)} entries begin with {arguments.digest!r}, expected one")
    (entry,) = found
    others = [other for other in entries if other is not entry]
    print("\n".join(f"{name}: {digest}" for name, digest in entry.key.parts))
    if not others:
        print("there is no other entry to compare with")
        return 0
    nearest = min(others, key=lambda other: len(entry.key.differs_from(other.key)))
    differing = ", ".join(entry.key.differs_from(nearest.key))
    print(f"differs from {nearest.key.digest[:SHOWN]} in: {differing}")
    return 0
