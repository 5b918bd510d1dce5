"""Which runtimes there are, and devices by name.

Runtimes are found through the entry-point group `cubepy.runtimes` and imported when first asked
for. A device name is a runtime's name and, after a colon, a number: `cpu`, `opencl:1`. Anything
else after it is a target to generate code for on that runtime's first device: `cpu:x86-64-v3`,
`cpu+gang=8`, and `reference:16`, the reference with planes of 16 units.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from importlib.metadata import entry_points

from cubepy import config
from cubepy.errors import RuntimeUnavailable
from cubepy.runtime.base import Device, Runtime
from cubepy.runtime.native import switches
from cubepy.runtime.targeted import TargetedDevice
from cubepy.target import Target

__all__ = [
    "Registry",
    "default_device",
    "device",
    "registry",
    "runtime_names",
    "set_default_device",
]

GROUP = "cubepy.runtimes"
# One device each; a number after these names is the machine of the target.
NO_NUMBERS = frozenset({"reference"})
_NAME = re.compile(r"(?P<runtime>[A-Za-z_]\w*)(?P<rest>(?:[:+].+)?)")


class Registry:
    """Runtimes and devices already opened. Safe to use from several threads."""

    def __init__(self, found: dict[str, Callable[[], Runtime]]) -> None:
        self._found = found
        self._lock = threading.RLock()
        self._runtimes: dict[str, Runtime] = {}
        self._devices: dict[str, Device] = {}
        self._default: Device | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all runtimes, whether usable here or not."""
        return tuple(sorted(self._found))

    def runtime(self, name: str) -> Runtime:
        """A runtime; RuntimeUnavailable if it is not known or cannot be imported."""
        with self._lock:
            if name not in self._runtimes:
                self._runtimes[name] = self._open(name)
            return self._runtimes[name]

    def _open(self, name: str) -> Runtime:
        if name not in self._found:
            known = ", ".join(self.names) or "none"
            raise RuntimeUnavailable(f"no runtime {name!r}: installed are {known}")
        try:
            return self._found[name]()
        except (ImportError, OSError) as error:
            raise RuntimeUnavailable(f"the runtime {name!r} cannot be loaded: {error}") from error

    def device(self, name: str) -> Device:
        """A device by name; the same one for the same name."""
        found = self._devices.get(name)
        if found is None:
            with self._lock:
                found = self._devices.get(name) or self._find(name)
                self._devices[name] = found
        return found

    def _find(self, name: str) -> Device:
        match = _NAME.fullmatch(name)
        if match is None:
            raise RuntimeUnavailable(f"no device {name!r}: names are like cpu, opencl:1")
        devices = self.runtime(match["runtime"]).devices()
        if not devices:
            raise RuntimeUnavailable(f"the runtime {match['runtime']!r} has no device here")
        rest = match["rest"]
        number, _, options = rest.removeprefix(":").partition("+")
        if number and (not number.isdecimal() or match["runtime"] in NO_NUMBERS):
            return TargetedDevice(devices[0], name, Target.parse(name))
        position = int(number or 0)
        if position >= len(devices):
            raise RuntimeUnavailable(
                f"no device {name!r}: the runtime {match['runtime']!r} has {len(devices)} here"
            )
        found = devices[position]
        for setting in Target.parse(f"{match['runtime']}+{options}").options if options else ():
            found = TargetedDevice(found, name, found.target.with_option(*setting))
        return found

    def default_device(self) -> Device:
        """Where launches go that name no device and have no buffers."""
        if self._default is None:
            self._default = self.device(config.current().runtime.device)
        return self._default

    def set_default_device(self, target: str | Device) -> None:
        """Send later launches without a device there."""
        self._default = self.device(target) if isinstance(target, str) else target
        switches.epoch += 1


_registry: Registry | None = None
_creating = threading.Lock()


def registry() -> Registry:
    """The registry of this process, made of the installed entry points when first asked for."""
    global _registry
    if _registry is None:
        with _creating:
            if _registry is None:
                found = {entry.name: _opener(entry.load) for entry in entry_points(group=GROUP)}
                _registry = Registry(found)
    return _registry


def _opener(load: Callable[[], Callable[[], Runtime]]) -> Callable[[], Runtime]:
    def open_runtime() -> Runtime:
        return load()()

    return open_runtime


def device(name: str | Device) -> Device:
    """A device by name, as `cpu` or `opencl:1`; RuntimeUnavailable says why it is not there."""
    return registry().device(name) if isinstance(name, str) else name


def default_device() -> Device:
    """The device of launches that name none and have no buffers among their arguments."""
    return registry().default_device()


def set_default_device(target: str | Device) -> None:
    """Make `target` the device of launches that name none."""
    registry().set_default_device(target)


def runtime_names() -> tuple[str, ...]:
    """Names of the installed runtimes, whether usable here or not."""
    return registry().names
