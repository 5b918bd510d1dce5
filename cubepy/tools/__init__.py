"""The `cubepy` command: what a kernel becomes, what this machine offers, what is kept on disk."""

from cubepy.tools.command import main

__all__ = ["main"]
