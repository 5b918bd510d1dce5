"""Devices whose drivers do not live on in the child of a fork: there they are refused by name.

A driver's threads are the parent's alone, and a child that waits for them waits for ever.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

from cubepy.errors import LaunchError
from cubepy.runtime.base import Device

__all__ = ["stays_behind"]

_devices: weakref.WeakSet[Device] = weakref.WeakSet()


class _LeftBehind(Device):
    """What a device of the parent is in the child: its name, and an error about anything else."""

    def __getattribute__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            return object.__getattribute__(self, attribute)
        name = self.__dict__["left_behind"]
        if attribute in ("name", "lost"):
            return attribute == "lost" or name
        if attribute == "anew":  # there is no other to be had
            return lambda: self
        raise LaunchError(
            f"{name} was opened before this process was forked, and its driver is of no use in the "
            "child\n"
            "  help: start processes with multiprocessing.get_context('spawn'), or use the device "
            "in children only"
        )


def stays_behind(device: Device) -> None:
    """Make children of forks refuse a device, by a LaunchError."""
    _devices.add(device)


def _leave() -> None:
    for device in _devices:
        device.__dict__["left_behind"] = device.name
        device.__class__ = _LeftBehind  # type: ignore[type-abstract]  # none is made


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave)
