"""What the conformance suite found on devices, as docs/ops.md tells it.

The records are written by `python -m cubepy.testing.record DEVICE`, one file for each language that
code is generated in. Nothing is run here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from cubepy.ir import SCALARS
from cubepy.records import dataclass

__all__ = ["Runs", "read_runs", "recorded_runs"]

ABOUT = """Made by `python -m cubepy.testing.record DEVICE`; a test says when one is stale. The
table counts the cases in which a type takes part: those that agreed, of those there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The runs on one device; `device` is empty where none are recorded."""

    device: str
    rows: Mapping[str, Mapping[str, Any]]

    def labels(self, row: str, outcome: str) -> list[str]:
        """The cases of a row with an outcome: agreed, refused, wrong."""
        found: list[str] = self.rows.get(row, {}).get(outcome, [])
        return found

    def count(self, row: str) -> str:
        """How many cases of a row agreed, of how many if not all."""
        agreed, refused = len(self.labels(row, "agreed")), len(self.labels(row, "refused"))
        total = agreed + refused + len(self.labels(row, "wrong"))
        if not total:
            return ""
        return str(total) if agreed == total else f"{agreed} of {total}"

    def share(self, type: str) -> str:
        """Of the cases that a type takes part in, those that agreed."""
        counts = {
            outcome: sum(
                type in label.replace(",", " ").split()
                for row in self.rows
                for label in self.labels(row, outcome)
            )
            for outcome in ("agreed", "refused", "wrong")
        }
        return f"{counts['agreed']} of {sum(counts.values())}" if self.device else ""


def read_runs(language: str) -> Runs:
    """The record of a language."""
    path = files("cubepy") / "testing" / "records" / f"{language}.json"
    if not path.is_file():
        return Runs(device="", rows={})
    record = json.loads(path.read_text(encoding="utf-8"))
    return Runs(device=record["device"], rows=record["rows"])


def recorded_runs(runs: Mapping[str, Runs]) -> Iterator[str]:
    """The section at the end of the page: devices, types, and what is refused."""
    known = {language: each for language, each in runs.items() if each.device}
    yield from (ABOUT, "")
    most = max((len(each.rows) for each in known.values()), default=0)
    for language, each in known.items():
        missing = most - len(each.rows)
        without = f"; {missing} ops have no run there yet" if missing else ""
        yield f"- {language}: {each.device}{without}"
    yield from ("", f"| type | {' | '.join(known)} |", f"| --- {'| --- ' * len(known)}|")
    for type in SCALARS:
        shares = " | ".join(each.share(type) for each in known.values())
        yield f"| `{type}` | {shares} |"
    for language, each in known.items():
        refused = {row: each.labels(row, "refused") for row in each.rows}
        named = [f"`{row}` ({', '.join(labels)})" for row, labels in refused.items() if labels]
        if named:
            yield from ("", f"Refused by {language}: {'; '.join(named)}.")
