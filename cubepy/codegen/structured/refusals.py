"""What a kernel needs and a device lacks, refused by name with the line that needs it."""

from __future__ import annotations

from cubepy.errors import Diagnostic, UnsupportedError
from cubepy.ir import Kernel, Op, Scalar, walk
from cubepy.location import Loc
from cubepy.target import Target

__all__ = ["need_feature", "refuse_shared", "refuse_types", "unsupported"]


def unsupported(message: str, loc: Loc, help: str) -> UnsupportedError:
    """The error for something that cannot be done."""
    return UnsupportedError(Diagnostic(message=message, loc=loc, help=help))


def need_feature(there: object, name: str, op: Op) -> None:
    """Refuse what the device cannot do."""
    if not there:
        raise unsupported(
            f"the device has no {name}, which `{op.opdef.name}` needs", op.loc,
            "choose another device: `cubepy doctor` lists what each can do",
        )  # fmt: skip


def refuse_types(kernel: Kernel, target: Target) -> None:
    """Refuse a kernel that computes with a type the device does not have."""
    owners = ((kernel.params, kernel.body), *((f.params, f.body) for f in kernel.functions))
    for op in (op for params, body in owners for op in (*params, *walk(body))):
        scalar = getattr(op.type, "element", op.type)
        if isinstance(scalar, Scalar) and scalar.name not in target.features.types:
            raise unsupported(
                f"the device has no {scalar}", op.loc if op.loc.known else kernel.loc,
                "use f32, or another device: `cubepy doctor` lists what each can do",
            )  # fmt: skip


def refuse_shared(kernel: Kernel, needed: int, target: Target, note: str = "") -> None:
    """Refuse a kernel whose cubes take more bytes of shared memory than the device has."""
    if needed > target.features.shared_bytes:
        raise unsupported(
            f"{kernel.name} needs {needed} bytes of shared memory, "
            f"and a cube has {target.features.shared_bytes}", kernel.loc,
            f"{note}share fewer elements, or use another device",
        )  # fmt: skip
