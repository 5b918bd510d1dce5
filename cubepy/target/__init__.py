"""What emitters and runtimes must agree on: Target, Features, Abi, Artifact, the report block."""

from typing import TYPE_CHECKING

from cubepy.late import door
from cubepy.target import reports
from cubepy.target.abi import Abi, Word, WordKind, abi_of
from cubepy.target.artifact import FOREIGN, Artifact, Schedule
from cubepy.target.features import Features, features_of
from cubepy.target.reports import Fault, FaultKind, Print
from cubepy.target.storage import artifact_of_bytes, bytes_of_artifact
from cubepy.target.switches import OPTIMIZATIONS
from cubepy.target.target import Target

if TYPE_CHECKING:
    from cubepy.target.bindings import ArrayGroup, Extra, array_groups
    from cubepy.target.decisions import Decision, Remark, Topic, no_remark
    from cubepy.target.machine_code import CodeLoop, MachineCode
else:
    # What is for people is not there before somebody looks, or something is compiled.
    __getattr__ = door(
        __name__,
        bindings="ArrayGroup Extra array_groups",
        decisions="Decision Remark Topic no_remark",
        machine_code="CodeLoop MachineCode",
    )

__all__ = [
    "FOREIGN",
    "OPTIMIZATIONS",
    "Abi",
    "ArrayGroup",
    "Artifact",
    "CodeLoop",
    "Decision",
    "Extra",
    "Fault",
    "FaultKind",
    "Features",
    "MachineCode",
    "Print",
    "Remark",
    "Schedule",
    "Target",
    "Topic",
    "Word",
    "WordKind",
    "abi_of",
    "array_groups",
    "artifact_of_bytes",
    "bytes_of_artifact",
    "features_of",
    "no_remark",
    "reports",
]
