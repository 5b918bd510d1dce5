"""Imports that wait until something is needed, for the sake of short starts.

Python's own import locks do not survive a fork: a child whose parent was importing a module on
another thread waits for that module for ever. So late imports stand in a `with late_import:` block,
and forks wait until nobody is in one. A package whose names are not all needed at a start opens
its rooms one by one through a `door`.
"""

import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["LateLogger", "door", "late_import"]

late_import = threading.RLock()
# Seconds that a door waits for other threads' late imports.
PATIENCE = 1.0

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=late_import.acquire,
        after_in_parent=late_import.release,
        after_in_child=late_import.release,
    )


def door(package: str, **rooms: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose modules are imported when one of their names is used.

    `rooms` are the names that each module gives, separated by blanks; a module itself can be had
    too. No name may be that of a module, which Python would put in its place.
    """
    homes = {name: module for module, names in rooms.items() for name in names.split()}

    def find(name: str) -> Any:
        module = name if name in rooms else homes.get(name)
        if module is None:
            # with these Python says which name may have been meant
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}",
                name=name,
                obj=sys.modules[package],
            )
        # Another thread may hold the lock and wait for a module that this one is importing, whose
        # text asks the door: so the wait has an end.
        held = late_import.acquire(timeout=PATIENCE)
        try:
            room = import_module(f"{package}.{module}")
        finally:
            if held:
                late_import.release()
        value = room if name in rooms else getattr(room, name)
        setattr(sys.modules[package], name, value)  # so that it is asked for once
        return value

    return find


class LateLogger:
    """A logger of the standard library, which is imported when there is something to log."""

    def __init__(self, name: str) -> None:
        self.name = name

    def warning(self, message: str, *values: object) -> None:
        """As the logger's own."""
        with late_import:
            import logging  # noqa: PLC0415

        logging.getLogger(self.name).warning(message, *values, stacklevel=2)

    def debug(self, message: str, *values: object) -> None:
        """As the logger's own; nobody has asked for details while `logging` is not even there."""
        logging = sys.modules.get("logging")
        if logging is not None:
            logging.getLogger(self.name).debug(message, *values, stacklevel=2)
