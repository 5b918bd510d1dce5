"""The words of the `cubepy` command, and what each of them calls."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from cubepy.errors import CubeError
from cubepy.tools.doctor import doctor
from cubepy.tools.explore import explore
from cubepy.tools.operations import print_operations
from cubepy.tools.profiling import profile_script
from cubepy.tools.settings import show_settings
from cubepy.tools.show import show
from cubepy.tools.shrinking import shrink
from cubepy.tools.store import clear, explain, list_entries, prune, verify

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0 if it did what it was asked."""
    parser = _parser()
    parsed = parser.parse_args(arguments)
    if parsed.run is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        return int(parsed.run(parsed))
    except CubeError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader has seen enough
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cubepy", description=main.__doc__)
    parser.add_argument("--version", action="version", version=f"cubepy {version('cubepy')}")
    parser.set_defaults(run=None)
    words = parser.add_subparsers(metavar="command")
    _add_show(words)
    _add_explore(words)
    word = words.add_parser("doctor", help="runtimes, devices, and why one is not there")
    word.add_argument(
        "--measure", action="store_true", help="what memory, arithmetic and launches reach"
    )
    word.set_defaults(run=doctor)
    word = words.add_parser("shrink", help="a smaller script that still fails in the same way")
    word.add_argument("script", metavar="SCRIPT", help="a Python file that fails")
    word.add_argument(
        "-o", "--output", metavar="FILE", help="where to write it; else it is printed"
    )
    word.add_argument(
        "--keep", default="", metavar="TEXT", help="what its complaint must still contain"
    )
    word.add_argument("--seconds", type=float, default=60.0, help="how long one run may take")
    word.set_defaults(run=shrink)
    word = words.add_parser("profile", help="run a script and say how long its launches took")
    word.add_argument("--trace", metavar="FILE", help="write a trace for ui.perfetto.dev too")
    word.add_argument("script", metavar="SCRIPT", help="a Python file")
    word.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="its own arguments")
    word.set_defaults(run=profile_script)
    word = words.add_parser("config", help="every setting and where its value came from")
    word.add_argument("action", choices=["show"], nargs="?", default="show")
    word.set_defaults(run=show_settings)
    word = words.add_parser("ops", help="the page of all operations, docs/ops.md")
    word.set_defaults(run=print_operations)
    _add_cache(words)
    return parser


_KERNEL = (
    "a file and a kernel in it; without one, those it has; the file is imported, so launches of a "
    "script belong under `if __name__ == '__main__':`"
)


def _add_kernel(word: Any, help: str = _KERNEL) -> None:
    """Which kernel, for which arguments."""
    word.add_argument("kernel", metavar="FILE[:KERNEL]", help=help)
    word.add_argument(
        "--signature", default="", metavar="ARGUMENTS",
        help="what the arguments are: 'x=f32[:], image=u8[:,:], a=f32, TILE=16'; "
        "what it leaves open is told by annotations, or assumed and said",
    )  # fmt: skip
    word.add_argument(
        "--over", default="", metavar="SHAPE", help="launched over a shape: 100, or 1000,2000"
    )
    word.add_argument("--cube-dim", default=None, metavar="X,Y,Z", help="launched as cubes")
    word.add_argument("--cube-count", default="1", metavar="X,Y,Z", help="how many cubes")
    word.add_argument("--check", default="auto", help="checked, validate or unchecked")


def _add_explore(words: Any) -> None:
    word = words.add_parser("explore", help="a page with a kernel beside everything it became")
    _add_kernel(word)
    word.add_argument(
        "--target", action="append", help="such as cpu:x86-64-v4 or opencl; may be given again"
    )
    word.add_argument("-o", "--output", metavar="PAGE", help="where to write it: KERNEL.html")
    word.add_argument(
        "--watch", action="store_true", help="serve the page and renew it whenever the file changes"
    )
    # Where a page of --watch says which files it was made of.
    word.add_argument("--live", metavar="FILES", default=None, help=argparse.SUPPRESS)
    word.add_argument("--port", type=int, default=0, help="of --watch; any by default")
    word.add_argument(
        "--run",
        action="store_true",
        dest="measure",
        help="measure on this machine's CPU what each line takes",
    )
    word.add_argument("--seconds", type=float, default=2.0, help="how long --run may take")
    word.add_argument(
        "--arguments", metavar="FUNCTION",
        help="of FILE, gives the arguments for --run, a tuple or a dict; else they are made up",
    )  # fmt: skip
    word.set_defaults(run=explore)


def _add_show(words: Any) -> None:
    word = words.add_parser("show", help="what a kernel becomes")
    _add_kernel(word)
    word.add_argument("--target", default=None, help="such as cpu, cpu:x86-64-v3, reference")
    stage = word.add_mutually_exclusive_group()
    stage.add_argument(
        "--after",
        metavar="PASS",
        help="the IR after a pass; 'lowered' before all, 'simplify:1' after its first run",
    )
    stage.add_argument("--ir", action="store_true", help="the IR as the front end makes it")
    stage.add_argument("--text", action="store_true", help="what is emitted for the target")
    stage.add_argument("--llvm", action="store_true", help="LLVM IR, for the target cpu")
    stage.add_argument(
        "--asm", action="store_true", help="machine code beside the source, the hot loop marked"
    )
    stage.add_argument("--hot", action="store_true", help="of the machine code the hot loop alone")
    stage.add_argument(
        "--raw-asm", action="store_true", help="machine code as an assembler reads it"
    )
    word.add_argument(
        "--decisions",
        action="store_true",
        help="what was decided and why, line by line, before the rest; the default alone",
    )
    word.add_argument(
        "--diff", action="store_true", help="what each pass changed, or the one of --after"
    )
    word.set_defaults(run=show)


def _add_cache(words: Any) -> None:
    word = words.add_parser("cache", help="the store of compiled code")
    actions = word.add_subparsers(required=True, metavar="action")
    actions.add_parser("ls", help="what is stored").set_defaults(run=list_entries)
    action = actions.add_parser("prune", help="drop the least recently used")
    action.add_argument("--max-bytes", type=int, default=None, help="how much may stay")
    action.set_defaults(run=prune)
    actions.add_parser("clear", help="drop everything").set_defaults(run=clear)
    actions.add_parser("verify", help="read all, remove what is damaged").set_defaults(run=verify)
    action = actions.add_parser(
        "explain", help="whether a kernel's code is stored, or which part of its key is new"
    )
    _add_kernel(action, "FILE:KERNEL, or the beginning of a key as `cache ls` shows it")
    action.add_argument("--device", default="", help="which it is compiled for: the default one")
    action.set_defaults(run=explain)
