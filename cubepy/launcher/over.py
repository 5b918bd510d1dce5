"""`k.over`: launchers over shapes, each made once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Never, SupportsIndex

from cubepy.errors import LaunchError
from cubepy.launcher import pickling
from cubepy.launcher.launcher import Launcher, likely_device, make_launcher
from cubepy.launcher.resolver import Resolver
from cubepy.launcher.tracebacks import short_tracebacks
from cubepy.launcher.work import Work
from cubepy.runtime import Device, NativeTable, Sizes, shape_of
from cubepy.runtime import device as find_device

__all__ = ["Over", "make_over"]

# Launchers that are kept; at the limit it starts anew.
KEPT = 4096


class Over:
    """Launches of one unit for each place of a shape, whose last axis is x: `k.over(shape)`."""

    __slots__ = ("_known", "_native", "_others", "_resolver")

    def __init__(self, resolver: Resolver, native: NativeTable | None = None) -> None:
        self._resolver = resolver
        self._known: dict[Any, Launcher] = {}
        self._others: dict[Any, Launcher] = {}
        self._native = native.attach(self, self._known) if native is not None else None

    @short_tracebacks
    def __call__(
        self,
        shape: Sizes | None = None,
        device: str | Device | None = None,
        check: str = "auto",
        *,
        debug: bool = False,
        unit: int | tuple[int, ...] = 0,
        **unknown: Never,
    ) -> Launcher:
        """A launch over `shape` on `device`, by default that of the arguments, or the default.

        With `debug`, one unit is stepped through in place of a launch: see `Launcher.debug`.
        """
        if shape is None or unknown or isinstance(device, SupportsIndex):
            raise _misread(self._resolver.name, shape, device, check, unknown)
        if type(shape) is not int:  # 1.0 equals 1, and is no size
            shape = shape_of(shape)
        usual = device is None and check == "auto"
        launchers: dict[Any, Launcher] = self._known if usual else self._others
        key = shape if usual else (shape, device, check)
        try:
            found = launchers.get(key)
        except TypeError:  # not hashable, so wrong: what follows says why
            found = None
        if found is None or found.lost:
            work = Work(shape=shape_of(shape), check=check)
            chosen = None if device is None else find_device(device)
            if len(launchers) >= KEPT:
                launchers.clear()
            found = launchers[key] = make_launcher(self._resolver, work, chosen)
        return found.stepping(unit) if debug else found

    def __reduce__(self) -> pickling.Again:
        return pickling.over_again, pickling.reference(self._resolver.program.source)

    def __copy__(self) -> Over:
        return self

    def __deepcopy__(self, memory: object) -> Over:
        return self

    def __repr__(self) -> str:
        return f"<{self._resolver.name}.over>"


def _misread(
    name: str, shape: object, device: object, check: object, unknown: Collection[str]
) -> LaunchError:
    """What to say of a call whose arguments are not those of `over`."""
    if unknown:
        word = next(iter(unknown))
        fix = (
            f"over chooses the cubes; {name}[count, dim](…) and {name}.launch(…, cube_count=…, "
            "cube_dim=…) take yours"
            if word in ("cube_dim", "cube_count")
            else f"{name}.over(shape, device=…, check=…)(…); arguments of the kernel come second"
        )
        return LaunchError(f"{name}.over takes no {word!r}\n  help: {fix}")
    if shape is None:
        return LaunchError(f"{name}.over: the shape is missing\n  help: {name}.over(len(x))(…)")
    given = (*(shape if isinstance(shape, tuple | list) else (shape,)), device, check)
    written = ", ".join(str(each) for each in given if isinstance(each, SupportsIndex))
    return LaunchError(
        f"{name}.over({written}): the shape is one argument\n  help: {name}.over(({written}))(…)"
    )


def make_over(resolver: Resolver) -> Over:
    """The `over` of one kernel, in machine code if the default device has that."""
    device = likely_device()
    native = None if device is None else device.native_table(Over)
    kind = Over if native is None else native.kind
    over: Over = kind(resolver, native)
    return over
