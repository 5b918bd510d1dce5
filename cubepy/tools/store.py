"""`cubepy cache …`: look at the disk store, shrink it, check it, explain a miss."""

from __future__ import annotations

import argparse
import datetime as dt
import re

from cubepy import cache, config
from cubepy.compiler import key_on
from cubepy.errors import CubeError
from cubepy.runtime import registry
from cubepy.tools.launches import named_launch

__all__ = ["clear", "explain", "list_entries", "prune", "verify"]

SHOWN = 12  # characters of a digest, enough to name an entry
_DIGEST = re.compile("[0-9a-f]*")
# What a part of a key being another one means.
_MEANING = {
    "kernel": "another name",
    "ir": "other source, arguments of other types or strides, comptime values, sizes or checks",
    "target": "another target, or a device with other features",
    "cubepy": "cubepy itself has changed",
    "triple": "another system",
    "cpu": "another processor",
    "cpu features": "the processor offers other instructions",
    "llvm passes": "LLVM is asked to try harder, or less hard",
    "toolchain": "another version of LLVM",
}


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
    """Print what is stored of an entry or a kernel, and what tells it from the one most like it."""
    if not _DIGEST.fullmatch(arguments.kernel):
        return _explain_kernel(arguments)
    entries = cache.store().entries()
    found = [entry for entry in entries if entry.key.digest.startswith(arguments.kernel)]
    if len(found) != 1:
        raise CubeError(f"{len(found)} entries begin with {arguments.kernel!r}, expected one")
    (entry,) = found
    others = [other for other in entries if other is not entry]
    print("\n".join(f"{name}: {digest}" for name, digest in entry.key.parts))
    if not others:
        print("there is no other entry to compare with")
        return 0
    nearest = min(others, key=lambda other: len(entry.key.differs_from(other.key)))
    print(_difference(entry.key, nearest))
    return 0


def _explain_kernel(arguments: argparse.Namespace) -> int:
    """Whether the code of a kernel on its device is stored; if not, which parts are new."""
    launch = named_launch(arguments)
    device = registry().device(arguments.device or config.current().runtime.device)
    key = key_on(device, launch.inspect(str(device.target)).stages.lowered)
    stored = next((each for each in cache.store().entries() if each.key == key), None)
    print(f"{key.label}: {key.digest[:SHOWN]}")
    if stored is not None:
        print(f"stored: {stored.size} bytes in {stored.path}")
        return 0
    nearest = cache.store().nearest(key)
    if nearest is None:
        print("not stored: there is no entry at all")
    else:
        print(f"not stored: {_difference(key, nearest[0])}")
    return 0


def _difference(key: cache.Key, entry: cache.Entry) -> str:
    """Which parts differ, and what that means."""
    names = key.differs_from(entry.key)
    label = f" ({entry.key.label})" if entry.key.label else ""
    head = f"differs from {entry.key.digest[:SHOWN]}{label} in: {', '.join(names)}"
    meant = [f"  {name}: {_MEANING[name]}" for name in names if name in _MEANING]
    return "\n".join([head, *meant])
