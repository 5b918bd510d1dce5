"""`python -m cubepy.testing.record DEVICE [RECORD]`: what the conformance suite finds on a device.

A record says of every case whether it ran and agreed, was refused by name, or was wrong. Those of
`cubepy/testing/records` are what docs/ops.md knows of targets. A row's digest is that of its cases:
where it is another one by now, the record is stale. Drivers may take an hour to build all kernels:
of rows of an earlier record with the same cases those that agreed are taken over, and Ctrl-C ends
a run with the rows that it has.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cubepy.errors import CubeError, UnsupportedError
from cubepy.ir import print_kernel
from cubepy.runtime import Device, device
from cubepy.testing.cases import Case, check_case
from cubepy.testing.conformance import cases_of, rows

__all__ = ["FOLDER", "agreed", "read_record", "record_of"]

#: One file for each language that code is generated in.
FOLDER = Path(__file__).parent / "records"
DIGITS = 12
Row = dict[str, Any]
NOTHING: Mapping[str, Row] = {}


def record_of(
    machine: Device, names: Sequence[str] = rows(), known: Mapping[str, Row] = NOTHING
) -> dict[str, Any]:
    """Run every case of some rows on a device, but for those of which `known` says that they agreed
    when the row had the same cases.
    """
    plane_dim = machine.target.features.plane_dim
    found: dict[str, Row] = {}
    with contextlib.suppress(KeyboardInterrupt):
        for name in names:
            found[name] = _row(list(cases_of(name, plane_dim)), machine, known.get(name, {}))
    described = getattr(machine, "description", machine.name)
    return {"device": described, "plane_dim": plane_dim, "rows": found}


def _row(cases: Sequence[Case], machine: Device, known: Row) -> Row:
    """What became of a row's cases, by what they are of: types, sizes, modes."""
    digest = _digest(cases)
    taken_over = set(known.get("agreed", ())) if known.get("cases") == digest else set()
    outcomes: collections.defaultdict[str, list[str]] = collections.defaultdict(list)
    for case in cases:
        label = _label(case)
        outcomes["agreed" if label in taken_over else _outcome(case, machine)].append(label)
    return {"cases": digest, **outcomes}


def _outcome(case: Case, machine: Device) -> str:
    try:
        return "wrong" if check_case(case, machine) else "agreed"
    except UnsupportedError:
        return "refused"
    except CubeError as error:  # a driver that gives up: the other cases are still of interest
        sys.stderr.write(f"{case.name}: {error}\n")
        return "wrong"


def _label(case: Case) -> str:
    return case.name.removeprefix(case.row).strip("[]")


def _digest(cases: Iterable[Case]) -> str:
    """Of names, kernels and operands, which are the same on every machine."""
    parts = hashlib.sha256()
    for case in cases:
        parts.update(f"{case.name}\n{print_kernel(case.kernel)}\n".encode())
        for name, value in case.arguments.items():
            parts.update(f"{name} {np.shape(value)} ".encode())
            parts.update(np.asarray(value).tobytes())
    return parts.hexdigest()[:DIGITS]


def read_record(language: str) -> dict[str, Any] | None:
    """The record that is kept of a language, or None."""
    path = FOLDER / f"{language}.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def agreed(cases: Sequence[Case]) -> Row:
    """A row on a device that gets all its cases right."""
    return {"cases": _digest(cases), "agreed": [_label(case) for case in cases]}


def main(name: str, earlier: str = "") -> int:
    """Print the record of a device; 1 if a case is wrong."""
    known = json.loads(Path(earlier).read_text(encoding="utf-8"))["rows"] if earlier else NOTHING
    record = record_of(device(name), known=known)
    sys.stdout.write(json.dumps(record, indent=1, sort_keys=True) + "\n")
    return int(any("wrong" in row for row in record["rows"].values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
