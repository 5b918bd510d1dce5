"""`cubepy ops`: the page of all operations, docs/ops.md, made from the op table.

Operand types come from the rows' own type rules, errors from `cubepy.std.accuracy`, and how each
target has an op from the levels of the pipeline and the emitters' tables. That it works is said by
`cubepy.tools.recorded_runs`.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from cubepy.codegen import native_ops
from cubepy.frontend import INTRINSICS, call_and_meaning
from cubepy.ir import (
    BOOL,
    FLOATS,
    INTEGERS,
    SCALARS,
    VOID,
    OpDef,
    Scalar,
    Trait,
    Type,
    TypeRuleError,
    ops,
)
from cubepy.passes import TARGET_LEVELS, level_of
from cubepy.std import LARGEST_ERROR, SPECIAL_VALUES, SPECIAL_VALUES_OF_TWO
from cubepy.target import Target
from cubepy.tools.recorded_runs import read_runs, recorded_runs

__all__ = ["operations_page", "print_operations"]

HEAD = """# Operations

Every row of the op table, in its order; `cubepy ops > docs/ops.md` writes this page again.

- *in kernels*: the name after `cb.`, Python's own operator or function, or nothing where only the
  front end or a pass makes the op.
- *types*: of the operands and the result; one name for all where they are the same. Numbers are
  integers and floats; integers are `i8` … `u64` and `index`, floats `f16`, `bf16`, `f32`, `f64`.
- *error*: the largest in units in the last place that a target may make; then what the device
  library makes in f16, bf16, f32 and f64 (measured, see `cubepy/std/accuracy.py`). Nothing is
  written where a result is exact, or correctly rounded.
- targets: *own* where the emitter or the interpreter has the op itself, *library* where its
  definition in `cubepy/std` is compiled into the kernel, *inlined* where a pass replaces it. Then
  the cases of the conformance suite that ran on a device of that kind and agreed with the table:
  every choice of types, sizes and modes. `10 of 13`: the device refuses the others by name, see the
  end of the page. Nothing stands there where no run is recorded."""
#: The rows that begin a section of the table.
SECTIONS: Mapping[str, str] = {
    "param": "Values without operands",
    "add": "Arithmetic",
    "bit_and": "Bits",
    "eq": "Comparison and choice",
    "cast": "Conversion",
    "sqrt": "Rounding and exact functions of floats",
    "exp": "Functions of floats",
    "shared": "Memory",
    "sync_cube": "Cooperation",
    "assert": "Reports to the host",
    "if": "Control flow",
}
FAMILIES: Mapping[frozenset[Type], str] = {
    frozenset(SCALARS.values()): "any",
    INTEGERS | FLOATS: "numbers",
    INTEGERS | {BOOL}: "integers, bool",
    INTEGERS: "integers",
    FLOATS: "floats",
    frozenset({BOOL}): "bool",
}


def print_operations(_: argparse.Namespace) -> int:
    """Print the page."""
    print(operations_page(), end="")
    return 0


def operations_page() -> str:
    """The whole page."""
    targets = {language: Target.parse(language) for language in TARGET_LEVELS}
    permitted = {
        language: level_of(target, native_ops(target)) for language, target in targets.items()
    }
    runs = {language: read_runs(language) for language in targets}
    lines = [HEAD]
    for row in ops.BY_NAME.values():
        if row.name in SECTIONS:
            lines += [*_heading(SECTIONS[row.name], permitted)]
        support = [
            f"{_support(row, names)} {runs[language].count(row.name)}".strip()
            for language, names in permitted.items()
        ]
        cells = [f"`{row.name}`", _spelling(row), _operands(row), _types(row), _plain(row.doc)]
        lines.append(_line([*cells, _error(row), *support]))
    lines += ["", "## Special values", "", *_special_values()]
    lines += ["", "## Spelled in several ops", "", *_others()]
    lines += ["", "## Recorded runs", "", *recorded_runs(runs)]
    return "\n".join(lines) + "\n"


def _heading(title: str, languages: Mapping[str, object]) -> Iterator[str]:
    names = ["op", "in kernels", "operands", "types", "meaning", "error", *languages]
    yield from ("", f"## {title}", "", _line(names), _line(["---"] * len(names)))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# Python's signs that the front end sees to by itself.
_SIGNS = {"neg": "`-x`", "bit_not": "`~`", "pow_integer": "`**`", "pow": "`**`, `pow`"}


def _plain(text: str) -> str:
    """A sentence whose products are no emphasis; code stays as it is."""
    parts = text.split("`")
    return "`".join(each if at % 2 else each.replace("*", r"\*") for at, each in enumerate(parts))


def _spelling(row: OpDef) -> str:
    builtin = row.python in {"abs", "assert", "len", "max", "min", "pow", "print", "round"}
    if row.name in _SIGNS:
        return _SIGNS[row.name]
    if not row.python:
        return ""
    plain = builtin or not row.python.isidentifier()
    return f"`{row.python}`" if plain else f"`cb.{row.python}`"


def _operands(row: OpDef) -> str:
    return ", ".join(name.replace("*", "…") for name in row.operands)


def _support(row: OpDef, permitted: frozenset[str]) -> str:
    if row.name in permitted or row is ops.PARAM:
        return "own"
    return "library" if row.has(Trait.LIBRARY) else "inlined"


def _error(row: OpDef) -> str:
    if not row.ulp:
        return ""
    measured = ", ".join(f"{error:.3f}" for error in LARGEST_ERROR[row.name].values())
    return f"{row.ulp['f32']:g}; {measured}"


def _special_values() -> Iterator[str]:
    """Arguments and results of each function, one function a line."""
    yield from ("As C99 Annex F has them. NaN gives NaN where nothing else is said.", "")
    yield from (_line(["function", "results"]), _line(["---", "---"]))
    for name, rows in {**SPECIAL_VALUES, **SPECIAL_VALUES_OF_TWO}.items():
        written = [
            f"{', '.join(map(_number, operands))} → {_number(result)}" for *operands, result in rows
        ]
        yield _line([f"`{name}`", "; ".join(written)])


def _number(value: float) -> str:
    quarters = value / (math.pi / 4)
    if not quarters.is_integer() or not quarters:
        return f"{value:g}".replace("e+0", "e").replace("-", "−")
    parts = {1.0: "π/4", 2.0: "π/2", 3.0: "3π/4", 4.0: "π"}
    return ("−" if value < 0 else "") + parts[abs(quarters)]


def _others() -> Iterator[str]:
    """Names of functions that have no row, or one under another name."""
    names = sorted(set(INTRINSICS) - set(ops.BY_PYTHON))
    yield from ("These have no row of their own.", "", "| in kernels | meaning |", "| --- | --- |")
    for name in names:
        call, meaning = call_and_meaning(name)
        yield _line([f"`{call}`", meaning])


# ── types ────────────────────────────────────────────────────────────────────────────────────────


def _types(row: OpDef) -> str:
    """What the row's type rule says to every choice of scalars; "" for memory and exits."""
    if row in (ops.CAST, ops.BITCAST):
        return "any → type" if row is ops.CAST else "numbers → numbers as wide"
    if row.has(Trait.EXIT) or (row.operands[-1:] and row.operands[-1].startswith("*")):
        return ""
    every = tuple(SCALARS.values())
    fitting: dict[tuple[Scalar, ...], Type] = {}
    for types in itertools.product(every, repeat=len(row.operands)):
        result = _result(row, types)
        if result is not None:
            fitting[types] = result
    return _described(fitting)


def _result(row: OpDef, types: tuple[Scalar, ...]) -> Type | None:
    """The type rule's answer, or None where it refuses or wants an attribute."""
    try:
        return row.rule(types, {})
    except (TypeRuleError, KeyError):
        return None


def _described(fitting: Mapping[tuple[Scalar, ...], Type]) -> str:
    columns = [_family(column) for column in zip(*fitting, strict=True)]
    alike = all(len(set(types)) == 1 for types in fitting)
    operands = columns[0] if alike and columns else ", ".join(columns)
    results = set(fitting.values())
    if len(results) != 1 or results == {VOID}:
        return operands
    return f"{operands} → {results.pop()}".strip()


def _family(types: Sequence[Scalar]) -> str:
    return FAMILIES.get(frozenset(types)) or ", ".join(map(str, dict.fromkeys(types)))
