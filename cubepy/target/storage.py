"""Artifacts as bytes, for the disk store: what a launch needs, without the texts for people.

The bytes are trusted as the machine code in them is: the store reads only files that nobody else
can write.
"""

from __future__ import annotations

import pickle

from cubepy.records import fields, replace
from cubepy.target.artifact import Artifact
from cubepy.target.target import Target

__all__ = ["artifact_of_bytes", "bytes_of_artifact"]

_NAMES = tuple(field.name for field in fields(Artifact) if field.name != "target")


def bytes_of_artifact(artifact: Artifact, binary: bytes) -> bytes:
    """An artifact with `binary` in the place of its text; its target is not written."""
    kept = replace(artifact, text="", binary=binary, line_map={}, decisions=())
    return pickle.dumps([getattr(kept, name) for name in _NAMES], protocol=5)


def artifact_of_bytes(data: bytes, target: Target) -> Artifact:
    """What `bytes_of_artifact` wrote of an artifact for `target`."""
    return Artifact(target=target, **dict(zip(_NAMES, pickle.loads(data), strict=True)))
