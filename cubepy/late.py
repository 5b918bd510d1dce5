"""Imports that wait until something is needed, for the sake of short starts.

Python's own import locks do not survive a fork: a child whose parent was importing a module on
another thread waits for that module for ever. So late imports stand in a `with late_import:` block,
and forks wait until nobody is in one.
"""

import os
import threading

__all__ = ["late_import"]

late_import = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=late_import.acquire,
        after_in_parent=late_import.release,
        after_in_child=late_import.release,
    )
