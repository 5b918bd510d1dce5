"""What emitters and runtimes must agree on: Target, Features, Abi, Artifact, the report block."""

from cubepy.target import reports
from cubepy.target.abi import Abi, Word, WordKind, abi_of
from cubepy.target.artifact import FOREIGN, Artifact, Schedule
from cubepy.target.features import Features, features_of
from cubepy.target.reports import Fault, FaultKind, Print
from cubepy.target.storage import artifact_of_bytes, bytes_of_artifact
from cubepy.target.target import Target

__all__ = [
    "FOREIGN",
    "Abi",
    "Artifact",
    "Fault",
    "FaultKind",
    "Features",
    "Print",
    "Schedule",
    "Target",
    "Word",
    "WordKind",
    "abi_of",
    "artifact_of_bytes",
    "bytes_of_artifact",
    "features_of",
    "reports",
]
