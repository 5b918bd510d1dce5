"""An inspection in a notebook: the decisions in a table, the texts folded away below it."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cubepy.errors import UnsupportedError
from cubepy.inspection import assembly, terminal
from cubepy.inspection.assembly import hot_loop
from cubepy.inspection.highlight import STYLE, highlighted
from cubepy.location import line_of

if TYPE_CHECKING:
    from cubepy.inspection.inspection import Inspection

__all__ = ["page"]

# Notebooks say on the body whether they are dark; elsewhere the reader's own setting counts.
_STYLE = """
.cubepy { color: light-dark(#1c2024, #e4e8ec); font: 13px/1.5 system-ui, sans-serif; }
body[data-jp-theme-light="true"] .cubepy, body.vscode-light .cubepy { color-scheme: light; }
body[data-jp-theme-light="false"] .cubepy, body.vscode-dark .cubepy { color-scheme: dark; }
.cubepy table { border-collapse: collapse; }
.cubepy td { text-align: left; vertical-align: top; padding: 1px 10px 1px 0; }
.cubepy td.code { white-space: pre; font-family: monospace; padding-top: 6px; }
.cubepy pre { background: light-dark(#f5f6f8, #1e2227); padding: 8px; overflow: auto;
  max-height: 30em; }
.cubepy summary { cursor: pointer; }
.cubepy .topic { color: light-dark(#5c6670, #8b98a5); }
"""


def page(inspection: Inspection) -> str:
    """The HTML of one output cell."""
    texts = "".join(_folded(*each) for each in _texts(inspection))
    heading = html.escape(f"{inspection.source.name} for {inspection.target.full_name}")
    called = html.escape(terminal.called(inspection))
    if inspection.assumed:
        called += f"<br>assumed {html.escape('; '.join(inspection.assumed))}"
    hot = hot_loop(inspection)
    needs = html.escape(str(inspection.resources)) + (f"<br>hot loop: {hot}" if hot else "")
    return (
        f'<div class="cubepy"><style>{STYLE}{_STYLE}</style><b>{heading}</b><p>called {called}</p>'
        f"<table>{''.join(_rows(inspection))}</table><p>{needs}</p>{texts}</div>"
    )


def _rows(inspection: Inspection) -> Iterator[str]:
    line = 0
    for decision in inspection.own_decisions:
        if decision.loc.line != line:
            line = decision.loc.line
            code = highlighted(line_of(decision.loc.file, line).rstrip(), "python")[0]
            yield f'<tr><td>{line}</td><td class="code" colspan="2">{code}</td></tr>'
        topic, text = decision.topic.value, html.escape(str(decision))
        yield f'<tr><td></td><td class="topic">{topic}</td><td>{text}</td></tr>'


def _texts(inspection: Inspection) -> Iterator[tuple[str, str, str]]:
    """Title, text and language of everything there is."""
    yield "IR as written", inspection.ir, "ir"
    yield "IR as emitted", inspection.optimized_ir, "ir"
    for step in inspection.passes:
        if step.diff:
            yield f"what {step.name} changed", step.diff, "diff"
    language = inspection.target.language
    if language != "reference":
        yield "emitted", inspection.text, {"cpu": "llvm"}.get(language, language)
    try:
        listing = terminal.plain(assembly.asm_listing(inspection), wrapped=False)
        yield "machine code, beside the lines it comes from", listing, "text"
    except UnsupportedError:
        return


def _folded(title: str, text: str, language: str) -> str:
    code = "\n".join(highlighted(text.rstrip("\n"), language))
    return f"<details><summary>{html.escape(title)}</summary><pre>{code}</pre></details>"
