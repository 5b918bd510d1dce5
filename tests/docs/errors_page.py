"""Writes docs/errors.md: each class of error, why it is raised and what to do, and its messages.

Classes and what they are come from `cubepy.errors`, messages and fixes from the records in
tests/errors, held to the character; errors_advice.md has what neither says.
`python -m tests.docs.errors_page > docs/errors.md` writes the page again.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from cubepy import errors
from cubepy.records import dataclass

__all__ = ["advice", "page", "records"]

ADVICE = Path(__file__).with_name("errors_advice.md")
RECORDS = Path(__file__).parent.parent / "errors"

HEAD = """\
# Errors

What is wrong with a kernel, a launch or a setting is a `cubepy.errors.CubeError`, and most are a
built-in class as well: `except TypeError` catches a `CubeTypeError`. What Python itself refuses, a
method called with too few arguments or a name misspelt outside of a kernel, stays Python's own
`TypeError` or `AttributeError`. A message says what is wrong, shows the place in your
source, the reasons and other places that play a part, and ends with what to do:

```
my.py:10:12: error: cannot add f32 and index
   10 |     y[i] = a * x[i] + i
      |            ^^^^^^^^^^^^
  help: convert one side, for example f32(i)
```

The front end does not stop at the first mistake: one error may hold several messages, and
`error.diagnostics` has them one by one, with `message`, `loc`, `notes` and `help`. The traceback of
a launch has your call, the line of cubepy that raised the error there, and the line of the kernel;
`CUBEPY_TRACEBACKS=full` shows all lines of cubepy between. An error in an option of
`@cb.cube` or in an annotation comes while the file is read, with the lines of cubepy that found it.

Below are all classes and, from the tests, the messages they come with. Names and types in them are
those of the tests' kernels: search for the words around them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One message on file: the class, the whole text, its first line without a place, its help."""

    kind: str
    text: str
    message: str
    help: str


def advice() -> dict[str, str]:
    """What to do about each class, by its name."""
    text = ADVICE.read_text(encoding="utf-8")
    sections = (section.partition("\n\n") for section in text.split("\n## ")[1:])
    return {name: told.strip() for name, _, told in sections}


def records() -> list[Record]:
    """What the records say, in the order of their names."""
    paths = sorted(path for path in RECORDS.glob("*.txt") if ".python" not in path.name)
    return [_record(path.read_text(encoding="utf-8")) for path in paths]


def _record(content: str) -> Record:
    kind, _, text = content.rstrip("\n").partition("\n")
    # An error may hold several messages, with empty lines between them; the first names the class.
    lines = text.split("\n\n")[0].splitlines()
    advice = [line.strip() for line in lines if line.startswith("  help: ")]
    message = re.sub(r"^(\S+:\d+(:\d+)?: )?error: ", "", lines[0])
    return Record(
        kind=kind,
        text="\n".join(lines),
        message=message,
        help=advice[0].removeprefix("help: ") if advice else "",
    )


def page() -> str:
    """The page as Markdown."""
    found, told = records(), advice()
    parts = [HEAD]
    for kind in _classes():
        own = [record for record in found if record.kind == kind.__name__]
        parts += _section(kind, told[kind.__name__], own)
    return "\n\n".join(parts) + "\n"


def _classes() -> Iterator[type[Exception]]:
    """In the order of the tree that the module's docstring draws; the warning comes last."""
    drawn = re.findall(
        r"^[ │├└─]*(\w+)", (errors.__doc__ or "").partition("::\n\n")[2], re.MULTILINE
    )
    names = [name for name in drawn if isinstance(getattr(errors, name, None), type)]
    for name in (*dict.fromkeys(names), "CubeWarning"):
        yield getattr(errors, name)


def _section(kind: type[Exception], told: str, own: list[Record]) -> Iterator[str]:
    yield f"## {kind.__name__}"
    bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
    yield f"{inspect.cleandoc(kind.__doc__ or '')} Bases: {bases}."
    yield told
    placed = [record for record in own if " | " in record.text]
    if own:
        yield f"```\n{(placed or own)[0].text}\n```"
    rest = {record.message: record.help for record in own}
    if len(rest) > 1:
        rows = (f"| {_cell(message)} | {_cell(rest[message])} |" for message in sorted(rest))
        yield "\n".join(["| message | what to do |", "| --- | --- |", *rows])


def _cell(text: str) -> str:
    """Words of a message in a table: nothing in them is Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)


if __name__ == "__main__":
    print(page(), end="")
