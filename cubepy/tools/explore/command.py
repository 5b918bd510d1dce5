"""The command: which kernel for which targets, written to a file, or served while it changes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from cubepy.errors import ConfigError, CubeError, RuntimeUnavailable, UnsupportedError
from cubepy.passes import PIPELINES
from cubepy.records import replace
from cubepy.tools.explore.content import Refusal, Tab, content_of
from cubepy.tools.explore.measure import measured_shares
from cubepy.tools.explore.page import page_of
from cubepy.tools.explore.watch import imported_files, watch
from cubepy.tools.launches import ANY_SHAPE, named_launch

__all__ = ["explore", "page_for"]


RUN_SHAPE = "1048576"  # of --run, where no shape is given
HERE = ("cpu", "cpu:native")  # the processor at hand, which --run measures


def explore(arguments: argparse.Namespace) -> int:
    """Write the page, or serve it and renew it."""
    if arguments.watch:
        return watch(arguments)
    path = Path(arguments.output or f"{_name(arguments.kernel)}.html")
    try:
        page = page_for(arguments, live=arguments.live is not None)
    finally:
        if arguments.live is not None:
            Path(arguments.live).write_text(json.dumps(imported_files()), encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


def _name(kernel: str) -> str:
    """What to call the page of `FILE:KERNEL`."""
    file, _, name = kernel.rpartition(":")
    return name.replace(".", "_") if file else Path(kernel).stem


def page_for(arguments: argparse.Namespace, *, live: bool = False) -> str:
    """The page of the kernel that the command line names."""
    launch = named_launch(arguments, shape=RUN_SHAPE if arguments.measure else ANY_SHAPE)
    tabs: dict[str, Tab] = {}
    refusals: list[Refusal] = []
    for target, asked in _targets(arguments):
        try:
            tabs[target] = Tab(inspection=launch.inspect(target))
        except (UnsupportedError, ConfigError, RuntimeUnavailable) as error:
            if asked:
                raise
            refusals.append(Refusal(target, str(error).splitlines()[0]))
    if not tabs:
        reasons = "\n".join(f"  {target}: {reason}" for target, reason in refusals)
        raise CubeError(f"{arguments.kernel} cannot be compiled for any target:\n{reasons}")
    if arguments.measure:
        shares, remark = measured_shares(arguments, launch)
        for target in tabs.keys() & HERE:
            tabs[target] = replace(tabs[target], measured=shares, remark=remark)
    return page_of(content_of(list(tabs.values()), refusals), live=live)


def _targets(arguments: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    """The targets that were asked for, or else every language that cubepy writes; what is measured
    is shown in any case.
    """
    if arguments.target:
        if arguments.measure and not set(HERE) & set(arguments.target):
            yield HERE[0], True
        yield from ((target, True) for target in arguments.target)
        return
    yield from ((language, False) for language in PIPELINES if language != "reference")
