"""`cubepy config show`: every setting, its value, and where that came from."""

from __future__ import annotations

import argparse

from cubepy import config
from cubepy.records import fields

__all__ = ["show_settings"]


def show_settings(_: argparse.Namespace) -> int:
    """Print all settings in the form of `cubecl.toml`."""
    settings = config.current()
    for section in (entry.name for entry in fields(settings) if entry.name != "origins"):
        print(f"[{section}]")
        values = getattr(settings, section)
        for entry in fields(values):
            origin = settings.origins.get(f"{section}.{entry.name}", "default")
            print(f"{entry.name} = {_toml(getattr(values, entry.name))}  # {origin}")
    return 0


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')
