"""`@cube`: a Python function as a kernel.

A :class:`Cube` can be launched, inspected, and called by other kernels. What a launch does stands
in `launcher`, what the function becomes in `compiler.py`.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

from cubepy import frontend
from cubepy.compiler import Program
from cubepy.errors import CubeError, LaunchError, did_you_mean
from cubepy.late import late_import
from cubepy.launcher import (
    Launcher,
    Over,
    Resolver,
    Work,
    make_launcher,
    make_over,
    pickling,
    short_tracebacks,
)
from cubepy.runtime import Device, Sizes, triple
from cubepy.runtime import device as find_device
from cubepy.target import Target

if TYPE_CHECKING:
    from cubepy.inspection import Inspection
    from cubepy.launcher import HostCalls

__all__ = ["Cube", "cube"]

P = ParamSpec("P")
R = TypeVar("R")

FAST_MATH = ("afn", "arcp", "contract", "ninf", "nnan", "nsz", "reassoc")
_LAUNCH_OPTIONS = ("cube_count", "cube_dim", "device", "check", "debug", "unit")
PLANE_SIZES = (4, 8, 16, 32, 64)
_OPTIONS = ("contract", "deterministic", "fast_math", "plane_dim")
# Launchers that a kernel keeps; at the limit it starts anew.
KEPT = 4096


class Cube(Generic[P, R]):
    """A kernel, or a helper that kernels call; `function` is the Python function it is made of."""

    def __init__(
        self, function: Callable[P, R], options: tuple[tuple[str, str | int], ...] = ()
    ) -> None:
        source = frontend.capture(function, options=options)
        functools.update_wrapper(self, function)
        name = source.name
        self.__doc__ = function.__doc__ or f"A kernel without a docstring: {name}.over(shape)(…)."
        self.function: types.FunctionType = source.function
        self._source = source
        self._launchers: dict[Any, Launcher] = {}

    @property
    def source(self) -> frontend.KernelSource:
        """The function's place in its file."""
        return self._source

    @functools.cached_property
    def _resolver(self) -> Resolver:
        # Later than the decorator, when the names in annotations are defined.
        return Resolver(Program(self._source))

    def __reduce__(self) -> pickling.Again:
        return pickling.named, pickling.reference(self._source)

    def __copy__(self) -> Cube[P, R]:
        return self

    def __deepcopy__(self, memory: object) -> Cube[P, R]:
        return self

    def __repr__(self) -> str:
        parameters = ", ".join(self._source.signature.parameters)
        return f"<cube {self._source.name}({parameters}) at {self._source.loc}>"

    @short_tracebacks
    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        """A helper called with numbers: runs on the reference runtime, for unit tests."""
        return cast(R, self._host_calls(arguments, keywords))

    @functools.cached_property
    def _host_calls(self) -> HostCalls:
        with late_import:
            from cubepy.launcher import HostCalls  # noqa: PLC0415 - for unit tests

        return HostCalls(self._source)

    @functools.cached_property
    def over(self) -> Over:
        """`over(shape, device=None, check="auto")`: a launch of one unit for each place of `shape`.

        The last axis of `shape` is x.
        """
        return make_over(self._resolver)

    @short_tracebacks
    def __getitem__(self, sizes: Any) -> Launcher:
        """`k[cube_count, cube_dim]`: exactly so many cubes of so many units."""
        if not (isinstance(sizes, tuple) and len(sizes) == 2):
            name = self._source.name
            raise LaunchError(
                f"{name}[{sizes!r}]: expects a cube count and a cube dim\n"
                f"  help: {name}[count, dim](…); for a shape, {name}.over(shape)(…)"
            )
        return self.launcher(*sizes)

    @short_tracebacks
    def launch(
        self,
        *arguments: Any,
        cube_count: Sizes | None = None,
        cube_dim: Any = None,
        device: str | Device | None = None,
        check: str = "auto",
        debug: bool = False,
        unit: int | tuple[int, ...] = 0,
        **keywords: Any,
    ) -> None:
        """Launch exactly `cube_count` cubes of `cube_dim` units; both must be given.

        With `debug`, one unit is stepped through in place of that: see `Launcher.debug`.
        """
        if keywords:
            self._check_names(keywords)
        if cube_count is None or cube_dim is None:
            missing = "cube_count" if cube_count is None else "cube_dim"
            name = self._source.name
            raise LaunchError(
                f"{name}.launch: {missing} is missing\n"
                f"  help: {name}.launch(…, cube_count=…, cube_dim=…); "
                f"for a shape, {name}.over(shape)(…)"
            )
        launcher = self.launcher(cube_count, cube_dim, device, check)
        if debug:
            launcher.debug(*arguments, unit=unit, **keywords)
        else:
            launcher(*arguments, **keywords)

    def _check_names(self, keywords: Iterable[str]) -> None:
        """Refuse what is neither a parameter of the kernel nor an option of `launch`."""
        name, parameters = self._source.name, self._source.signature.parameters
        wrong = next((word for word in keywords if word not in parameters), None)
        if wrong is not None:
            known = (*parameters, *_LAUNCH_OPTIONS)
            advice = did_you_mean(wrong, known) or (
                f"{name}.launch(…, cube_count=…, cube_dim=…); for a shape, {name}.over(shape)(…)"
            )
            raise LaunchError(
                f"{name}.launch takes no {wrong!r}: there are the kernel's {', '.join(parameters)} "
                f"and {', '.join(_LAUNCH_OPTIONS)}\n  help: {advice}"
            )

    @short_tracebacks
    def launcher(
        self,
        cube_count: Sizes,
        cube_dim: Any,
        device: str | Device | None = None,
        check: str = "auto",
    ) -> Launcher:
        """What `launch` calls: the kernel with these sizes, ready for arguments."""
        if type(cube_count) is not int and type(cube_count) is not tuple:
            cube_count = triple(cube_count, "cube_count")
        if isinstance(cube_dim, list):
            cube_dim = tuple(cube_dim)
        key = (cube_count, cube_dim, device, check)
        try:
            found = self._launchers.get(key)
        except TypeError as error:  # something is not hashable, so it is no size and no name
            Work(cube_count=triple(cube_count, "cube_count"), check=check)
            if device is not None:
                find_device(device)
            raise LaunchError(
                f"cube_dim is {cube_dim!r}: expects up to three numbers\n"
                "  help: write kernel[count, dim], with numbers or tuples"
            ) from error
        if found is None:
            count = triple(cube_count, "cube_count")
            work = Work(cube_count=count, cube_dim=cube_dim, check=check)
            found = self._keep(key, work, device)
        return found

    def inspect(
        self,
        *arguments: Any,
        target: str | Target | None = None,
        signature: str | None = None,
        **keywords: Any,
    ) -> Inspection:
        """What the kernel becomes for these arguments, over as many axes as it asks positions of.

        `signature` may say what the arguments are instead: `"x=f32[:], n=i32"`. For other sizes
        there is `inspect` of what `over` and `[]` give.
        """
        with late_import:
            from cubepy.inspection import axes_of_launch  # noqa: PLC0415 - launches need none of it

        launcher = self.over((1,) * axes_of_launch(self._source))
        return launcher.inspect(*arguments, target=target, signature=signature, **keywords)

    def _keep(self, key: Any, work: Work, device: str | Device | None) -> Launcher:
        found = None if device is None else find_device(device)
        if len(self._launchers) >= KEPT:
            self._launchers.clear()
        launcher = self._launchers[key] = make_launcher(self._resolver, work, found)
        return launcher


@overload
def cube(function: Callable[P, R], /) -> Cube[P, R]: ...


@overload
def cube(
    *,
    fast_math: bool | Iterable[str] = False,
    contract: bool = False,
    deterministic: bool = False,
    plane_dim: int = 0,
) -> Callable[[Callable[P, R]], Cube[P, R]]: ...


def cube(
    function: Callable[..., Any] | None = None,
    /,
    *,
    fast_math: bool | Iterable[str] = False,
    contract: bool = False,
    deterministic: bool = False,
    plane_dim: int = 0,
    **unknown: Any,
) -> Any:
    """Make a kernel of a function; stands above it as `@cube` or `@cube(…)`.

    `fast_math` names what floating-point arithmetic may ignore (`True`: all of it); `contract`
    makes `a*b + c` of the source round once; `deterministic` refuses float atomics; `plane_dim`
    fixes the number of units of a plane, whatever the device's own is.
    """
    if unknown:
        name = next(iter(unknown))
        advice = did_you_mean(name, _OPTIONS) or f"there are {', '.join(_OPTIONS)}"
        raise CubeError(f"@cb.cube has no option {name!r}\n  help: {advice}")
    chosen: dict[str, str | int] = {
        "fast_math": _fast_math(fast_math),
        "contract": contract,
        "deterministic": deterministic,
        "plane_dim": _plane_dim(plane_dim),
    }
    options = tuple((name, value) for name, value in chosen.items() if value)

    def decorate(decorated: Callable[..., Any]) -> Cube[..., Any]:
        return Cube(decorated, options)

    return decorate if function is None else decorate(function)


def _plane_dim(size: int) -> int:
    """A size that planes can have, or 0 for the device's."""
    if type(size) is not int or size not in (0, *PLANE_SIZES):
        sizes = ", ".join(map(str, PLANE_SIZES))
        raise CubeError(
            f"plane_dim is {size!r}: planes may have {sizes} units\n"
            "  help: leave it out to have those of the device"
        )
    return size


def _fast_math(flags: bool | Iterable[str]) -> str:  # noqa: FBT001 (the word, not a switch)
    """Flag names, sorted, separated by commas."""
    if isinstance(flags, bool):
        return ",".join(FAST_MATH) if flags else ""
    if not isinstance(flags, Iterable):
        raise CubeError(
            f"fast_math is {flags!r}: expects True, False or some of its flags\n"
            '  help: for example fast_math=("contract", "nsz")'
        )
    names = [flags] if isinstance(flags, str) else sorted(set(flags), key=str)
    for name in names:
        if name not in FAST_MATH:
            help = did_you_mean(str(name), FAST_MATH) or "fast_math=True gives all of them"
            raise CubeError(
                f"no fast_math flag {name!r}: known are {', '.join(FAST_MATH)}\n  help: {help}"
            )
    return ",".join(names)
