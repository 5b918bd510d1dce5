"""One HTML page with everything in it: pictures, the table, each kernel beside what it became.

No script and no reference to anything outside, so the file can be mailed. Colours follow the
reader's light or dark setting.
"""

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from examples.showcase import highlight
from examples.showcase.job import Outcome
from examples.showcase.listing import Listing

__all__ = ["page"]

STYLE = Path(__file__).with_name("page.css")


def page(
    outcomes: Sequence[Outcome],
    listings: Mapping[str, Sequence[Listing]],
    pictures: Mapping[Path, str],
    remarks: Sequence[str],
) -> str:
    """The page. `listings` are by job, `pictures` are PNG files with what they show."""
    style = STYLE.read_text(encoding="utf-8")
    sections = [
        _section(outcome, listing, first=place == 0)
        for outcome in outcomes
        for place, listing in enumerate(listings[outcome.job.name])
    ]
    body = "\n".join(
        [
            "<h1>cubepy: what the demo computed</h1>",
            "<p>Kernels are Python functions. Each ran as machine code on the CPU, was held "
            "against an independent result and timed beside its peer.</p>",
            f'<div class="pictures">{"".join(map(_figure, pictures.items()))}</div>',
            "<h2>Right, and how fast</h2>",
            _table(outcomes),
            *(f"<p>{html.escape(remark)}</p>" for remark in remarks),
            *sections,
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>cubepy demo</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n"
        "</html>\n"
    )


def _figure(item: tuple[Path, str]) -> str:
    path, caption = item
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    words = html.escape(caption)
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{words}">'
        f"<figcaption>{words}</figcaption></figure>"
    )


def _table(outcomes: Sequence[Outcome]) -> str:
    heads = ("kernel", "right?", "ms", "on one thread", "peer ms", "ratio", "peer")
    head = "".join(
        f'<th class="words">{name}</th>' if name in ("right?", "peer") else f"<th>{name}</th>"
        for name in heads
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(map(_row, outcomes))}</tbody></table></div>"
    )


def _row(outcome: Outcome) -> str:
    timing = outcome.timing
    verdict = f'<td class="words {"right" if outcome.right else "wrong"}">{outcome.verdict}</td>'
    numbers = "".join(f"<td>{ms:.2f}</td>" for ms in (timing.best, timing.alone, timing.peer))
    return (
        f'<tr><td><a href="#{outcome.job.name}">{outcome.job.name}</a></td>{verdict}{numbers}'
        f'<td>{timing.ratio:.1f} ×</td><td class="words">{outcome.job.peer_name}</td></tr>'
    )


def _section(outcome: Outcome, listing: Listing, *, first: bool) -> str:
    """A kernel's three texts; the job's heading stands above its first kernel."""
    job = outcome.job
    heading = f'<h2 id="{job.name}">{job.name}</h2><p>{html.escape(job.about)}</p>' if first else ""
    stages = "".join(
        f'<div class="stage"><header>{title}</header><pre><code>{text}</code></pre></div>'
        for title, text in (
            ("what was written", highlight.python(listing.source)),
            ("IR, as the emitter gets it", highlight.ir(listing.ir)),
            ("machine code: the loop with most work in it", highlight.assembly(listing.assembly)),
        )
    )
    note = f" <span>{html.escape(listing.note)}</span>" if listing.note else ""
    title = f"<h3><code>{listing.name}</code>{note}</h3>"
    decided = html.escape("; ".join(listing.decisions))
    return f'{heading}{title}<p class="small">{decided}</p><div class="stages">{stages}</div>'
