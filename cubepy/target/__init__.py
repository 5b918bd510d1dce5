"""What emitters and runtimes must agree on: Target, Features, Abi, Artifact."""

from cubepy.target.abi import Abi, Word, WordKind, abi_of
from cubepy.target.artifact import Artifact, Schedule
from cubepy.target.features import Features, features_of
from cubepy.target.storage import artifact_of_bytes, bytes_of_artifact
from cubepy.target.target import Target

__all__ = [
    "Abi",
    "Artifact",
    "Features",
    "Schedule",
    "Target",
    "Word",
    "WordKind",
    "abi_of",
    "artifact_of_bytes",
    "bytes_of_artifact",
    "features_of",
]
