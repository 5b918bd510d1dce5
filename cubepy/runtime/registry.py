"""Which runtimes there are, and devices by name.

Runtimes are found through the entry-point group `cubepy.runtimes` and imported when first asked
for. A device name is a runtime's name and, after a colon, a number: `cpu`, `opencl:1`. Anything
else after it is a target to generate code for on that runtime's first device: `cpu:x86-64-v3`,
`cpu+gang=8`, and `reference:16`, the reference with planes of 16 units.
"""

from __future__ import annotations

import functools
import importlib
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from cubepy import config
from cubepy.errors import ConfigError, RuntimeUnavailable, did_you_mean
from cubepy.late import late_import
from cubepy.runtime.base import Device, Runtime
from cubepy.runtime.switches import switches
from cubepy.runtime.targeted import TargetedDevice
from cubepy.target import Target

__all__ = [
    "Registry",
    "default_device",
    "device",
    "num_threads",
    "registry",
    "runtime_names",
    "set_default_device",
    "set_num_threads",
    "target_here",
]

GROUP = "cubepy.runtimes"
# Those of the group that come with cubepy, which need not be looked for.
OURS = {
    "cpu": "cubepy_cpu:runtime",
    "opencl": "cubepy_opencl:runtime",
    "reference": "cubepy.interp:runtime",
    "wgpu": "cubepy_wgpu:runtime",
}
# One device each; a number after these names is the machine of the target.
NO_NUMBERS = frozenset({"reference"})
# Those whose devices have nothing but numbers.
_NUMBERED = frozenset({"opencl", "wgpu"})
_SOON = "CUDA is planned; opencl and wgpu are what runs on GPUs today"
# What to say of names under which people look for a runtime.
_ADVICE = {
    **dict.fromkeys(("cuda", "ptx"), _SOON),
    "gpu": "GPUs are reached by the names opencl and wgpu",
    **dict.fromkeys(("wgsl", "webgpu", "vulkan", "metal", "dx12"), "the runtime is called wgpu"),
    **dict.fromkeys(("llvm", "native", "host"), "the processor is called cpu"),
    **dict.fromkeys(("interp", "interpreter"), "the interpreter is called reference"),
}
# Of a device's number.
_MOST_DIGITS = 18
_NAME = r"(?P<runtime>[A-Za-z_]\w*)(?P<rest>(?:[:+].+)?)"


_LOOK = "`cubepy doctor` shows what there is"

Opener = Callable[[], Runtime]


def _parts(name: str) -> tuple[str, str]:
    """The runtime in a device's name, and what stands behind it."""
    if name in OURS:  # most names: a pattern takes its time to compile
        return name, ""
    match = re.fullmatch(_NAME, name)
    if match is None:
        raise RuntimeUnavailable(
            f"no device {name!r}: names are like cpu, opencl:1\n  help: {_LOOK}"
        )
    return match["runtime"], match["rest"]


class Registry:
    """Runtimes and devices already opened; `discover` finds more when an unknown one is asked for.

    Safe to use from several threads.
    """

    def __init__(
        self, found: Mapping[str, Opener], discover: Callable[[], Mapping[str, Opener]] = dict
    ) -> None:
        self._found = dict(found)
        self._discover: Callable[[], Mapping[str, Opener]] | None = discover
        self._lock = threading.RLock()
        self._runtimes: dict[str, Runtime] = {}
        self._devices: dict[str, Device] = {}
        self._default: Device | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all runtimes, whether usable here or not."""
        self._find_all()
        return tuple(sorted(self._found))

    def _find_all(self) -> None:
        """Look for what others have installed, which takes a while, once."""
        with self._lock:
            if self._discover is not None:
                self._found = {**self._discover(), **self._found}
                self._discover = None

    def runtime(self, name: str) -> Runtime:
        """A runtime; RuntimeUnavailable if it is not known or cannot be imported."""
        with self._lock:
            if name not in self._runtimes:
                self._runtimes[name] = self._open(name)
            return self._runtimes[name]

    def _open(self, name: str) -> Runtime:
        if name not in self._found:
            self._find_all()
        if name not in self._found:
            known = ", ".join(self.names) or "none"
            advice = _ADVICE.get(name) or did_you_mean(name, self.names)
            advice = advice or "`cubepy doctor` shows what there is"
            raise RuntimeUnavailable(
                f"no runtime {name!r}: installed are {known}\n  help: {advice}"
            )
        try:
            return self._found[name]()
        except (ImportError, OSError) as error:
            raise RuntimeUnavailable(
                f"the runtime {name!r} cannot be loaded: {error}\n"
                "  help: `cubepy doctor` tells what each runtime needs"
            ) from error

    def device(self, name: str) -> Device:
        """A device by name; the same one for the same name, until it is lost."""
        found = self._devices.get(name)
        if found is None or found.lost:
            with self._lock:
                found = self._devices.get(name)
                if found is None or found.lost:
                    found = self._devices[name] = self._find(name)
        return found

    def _find(self, name: str) -> Device:
        runtime, rest = _parts(name)
        devices = self.runtime(runtime).devices()
        if not devices:
            raise RuntimeUnavailable(f"the runtime {runtime!r} has no device here\n  help: {_LOOK}")
        number, _, options = rest.removeprefix(":").partition("+")
        if (runtime, number) == ("cpu", "native"):
            number = ""
        if number and runtime in _NUMBERED and not number.removeprefix("-").isdecimal():
            raise RuntimeUnavailable(
                f"no device {name!r}: devices of {runtime!r} have numbers, from {runtime}:0\n"
                f"  help: {_LOOK}"
            )
        if number and (not number.removeprefix("-").isdecimal() or runtime in NO_NUMBERS):
            return TargetedDevice(devices[0], name, Target.parse(name))
        if len(number) > _MOST_DIGITS:
            raise RuntimeUnavailable(
                f"no device {name[:40]}…: a number of {len(number)} digits\n  help: {_LOOK}"
            )
        position = int(number or 0)
        if not 0 <= position < len(devices):
            raise RuntimeUnavailable(
                f"no device {name!r}: the runtime {runtime!r} has {len(devices)} here\n"
                f"  help: {_LOOK}"
            )
        found = devices[position]
        for setting in Target.parse(f"{runtime}+{options}").options if options else ():
            found = TargetedDevice(found, name, found.target.with_option(*setting))
        return found

    def default_device(self) -> Device:
        """Where launches go that name no device and have no buffers."""
        chosen = self._default
        if chosen is None:
            chosen = self._default = self.device(config.current().runtime.device)
        elif chosen.lost:
            chosen = self._default = self.device(chosen.name)
        return chosen

    def set_default_device(self, target: str | Device) -> None:
        """Send later launches without a device there."""
        self._default = self.device(target) if isinstance(target, str) else target
        switches.epoch += 1


_registry: Registry | None = None
_creating = threading.Lock()


def registry() -> Registry:
    """The registry of this process; runtimes that others install are found by entry points."""
    global _registry
    if _registry is None:
        with _creating:
            if _registry is None:
                known = {name: _opener(functools.partial(_load, at)) for name, at in OURS.items()}
                _registry = Registry(known, _installed)
    return _registry


def _load(place: str) -> Opener:
    module, _, name = place.partition(":")
    with late_import:
        opener: Opener = getattr(importlib.import_module(module), name)
    return opener


def _installed() -> Mapping[str, Opener]:
    # Late, because importing it and looking around takes longer than a launch ever should.
    with late_import:
        from importlib.metadata import entry_points  # noqa: PLC0415

    return {entry.name: _opener(entry.load) for entry in entry_points(group=GROUP)}


def _opener(load: Callable[[], Opener]) -> Opener:
    def open_runtime() -> Runtime:
        return load()()

    return open_runtime


def device(name: str | Device) -> Device:
    """A device by name, as `cpu` or `opencl:1`; RuntimeUnavailable says why it is not there."""
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):
        raise ConfigError(
            f"a device cannot be {name!r}: expects a name, as 'cpu' or 'opencl:1', or a Device\n"
            "  help: cb.device('cpu') gives a Device"
        )
    return registry().device(name)


def target_here(text: str) -> Target:
    """A target by its text; `cpu` and `cpu:native` are the processor at hand, as its device knows
    it, or if there is none, the level it has.
    """
    target = Target.parse(text)
    if target.language != "cpu" or target.machine not in ("", "native"):
        return target
    with suppress(RuntimeUnavailable):
        return device(text).target
    return target


def default_device() -> Device:
    """The device of launches that name none and have no buffers among their arguments."""
    return registry().default_device()


def set_default_device(target: str | Device) -> None:
    """Make `target` the device of launches that name none."""
    registry().set_default_device(device(target))


def num_threads() -> int:
    """How many threads a large launch on the CPU uses, the calling one included."""
    return registry().runtime("cpu").num_threads


def set_num_threads(count: int | None) -> None:
    """Use `count` threads for launches on the CPU from now on; None for one a processor."""
    registry().runtime("cpu").set_num_threads(count)


def runtime_names() -> tuple[str, ...]:
    """Names of the installed runtimes, whether usable here or not."""
    return registry().names
