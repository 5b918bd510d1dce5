"""IR → text in a target's language, without any device: `emit`."""

from cubepy.codegen.llvm import ELEMENTWISE, emit_cpu
from cubepy.codegen.opencl import VALUES, emit_opencl
from cubepy.codegen.reference import emit_reference
from cubepy.codegen.wgsl import VALUES as WGSL_VALUES
from cubepy.codegen.wgsl import emit_wgsl
from cubepy.errors import ConfigError
from cubepy.ir import Kernel
from cubepy.target import Artifact, Target

__all__ = ["emit", "native_ops"]


def native_ops(target: Target) -> frozenset[str]:
    """Names of the value ops that the target's emitter has itself, so that no pass need expand
    them.
    """
    match target.language:
        case "cpu":
            return frozenset(ELEMENTWISE)
        case "opencl":
            return frozenset(VALUES)
        case "reference":
            return frozenset()
        case "wgsl":
            return frozenset(WGSL_VALUES)
        case _:
            raise _no_emitter(target)


def emit(kernel: Kernel, target: Target) -> Artifact:
    """The artifact of a kernel that has been through `passes.run` for `target`."""
    match target.language:
        case "cpu":
            return emit_cpu(kernel, target)
        case "opencl":
            return emit_opencl(kernel, target)
        case "reference":
            return emit_reference(kernel, target)
        case "wgsl":
            return emit_wgsl(kernel, target)
        case _:
            raise _no_emitter(target)


def _no_emitter(target: Target) -> ConfigError:
    return ConfigError(
        f"no emitter for target {target} yet: it is planned\n"
        "  help: GPUs are reached through opencl and wgsl; there are cpu and reference besides"
    )
