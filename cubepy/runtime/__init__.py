"""What a runtime is, which there are, and what all of them share in a launch.

The contract (:class:`Runtime`, :class:`Device`) is what a new runtime implements; arguments, grids,
copies and checks stand above it and are the same everywhere.
"""

from typing import TYPE_CHECKING

from cubepy.late import door
from cubepy.runtime.arguments import (
    ArrayFacts,
    Span,
    address_of,
    alias_classes,
    array_of,
    facts_of,
    find_array,
    is_writable,
    span_of,
    stride_classes,
)
from cubepy.runtime.base import (
    AGAIN,
    ArrayBinding,
    Binding,
    Device,
    Grid,
    LoadedKernel,
    Runtime,
    ScalarBinding,
)
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.events import Event, HostEvent, Uses
from cubepy.runtime.grid import (
    Sizes,
    Triple,
    check_cube_dim,
    cube_dim_over,
    grid_of,
    grid_over,
    shape_of,
    triple,
)
from cubepy.runtime.keys import device_of, launch_key
from cubepy.runtime.launch import check_access, launch
from cubepy.runtime.native import (
    Expected,
    ExpectedArray,
    ExpectedCall,
    ExpectedNumber,
    ExpectedValue,
    ExpectedVariable,
    NativeEntry,
    NativeKind,
    NativeTable,
)
from cubepy.runtime.observation import (
    Observed,
    Observer,
    Timing,
    observe,
    observers,
    tell_compiled,
    unobserve,
)
from cubepy.runtime.packing import Packer, grid_words, pack
from cubepy.runtime.pattern import Launched, pattern_of
from cubepy.runtime.pool import Lease, MemoryPool, MemoryStats, size_class
from cubepy.runtime.quick import Known, MemoryLaunch, QuickLaunch, quick_launch
from cubepy.runtime.recording import Recording, capture, recording_here, this_thread
from cubepy.runtime.registry import (
    Registry,
    default_device,
    device,
    num_threads,
    registry,
    runtime_names,
    set_default_device,
    set_num_threads,
    target_here,
)
from cubepy.runtime.scalars import convert_scalar
from cubepy.runtime.streams import Stream, WorkerStream, check_stream
from cubepy.runtime.switches import Switches, close_calls, reopen_calls, switches
from cubepy.runtime.targeted import TargetedDevice, memory_owner

if TYPE_CHECKING:
    from cubepy.runtime.float_probe import FLOAT_RESULTS, float_findings, float_operands
    from cubepy.runtime.forks import stays_behind
    from cubepy.runtime.readback import Readback, read_back
    from cubepy.runtime.reports import (
        Outside,
        Prints,
        assertion_failed,
        filled,
        raise_fault,
        report_block,
        unit_name,
        write_prints,
    )
else:
    # Few kernels have anything to report, and few devices must be tried out.
    __getattr__ = door(
        __name__,
        float_probe="FLOAT_RESULTS float_findings float_operands",
        forks="stays_behind",
        readback="Readback read_back",
        reports=(
            "Outside Prints assertion_failed filled raise_fault report_block unit_name write_prints"
        ),
    )

__all__ = [
    "AGAIN",
    "FLOAT_RESULTS",
    "ArrayBinding",
    "ArrayFacts",
    "Binding",
    "Buffer",
    "Device",
    "Event",
    "Expected",
    "ExpectedArray",
    "ExpectedCall",
    "ExpectedNumber",
    "ExpectedValue",
    "ExpectedVariable",
    "Grid",
    "HostEvent",
    "Known",
    "Launched",
    "Lease",
    "LoadedKernel",
    "MemoryLaunch",
    "MemoryPool",
    "MemoryStats",
    "NativeEntry",
    "NativeKind",
    "NativeTable",
    "Observed",
    "Observer",
    "Outside",
    "Packer",
    "Prints",
    "QuickLaunch",
    "Readback",
    "Recording",
    "Registry",
    "Runtime",
    "ScalarBinding",
    "Sizes",
    "Span",
    "Stream",
    "Switches",
    "TargetedDevice",
    "Timing",
    "Triple",
    "Uses",
    "WorkerStream",
    "address_of",
    "alias_classes",
    "array_of",
    "assertion_failed",
    "capture",
    "check_access",
    "check_cube_dim",
    "check_stream",
    "close_calls",
    "convert_scalar",
    "cube_dim_over",
    "default_device",
    "device",
    "device_of",
    "facts_of",
    "filled",
    "find_array",
    "float_findings",
    "float_operands",
    "grid_of",
    "grid_over",
    "grid_words",
    "is_writable",
    "launch",
    "launch_key",
    "memory_owner",
    "num_threads",
    "observe",
    "observers",
    "pack",
    "pattern_of",
    "quick_launch",
    "raise_fault",
    "read_back",
    "recording_here",
    "registry",
    "reopen_calls",
    "report_block",
    "runtime_names",
    "set_default_device",
    "set_num_threads",
    "shape_of",
    "size_class",
    "span_of",
    "stays_behind",
    "stride_classes",
    "switches",
    "target_here",
    "tell_compiled",
    "this_thread",
    "triple",
    "unit_name",
    "unobserve",
    "write_prints",
]
