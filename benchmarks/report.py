"""Measured rows for people: a table for the terminal and a plot as SVG.

The plot has a line a row: how much of the best peer's time our kernel takes, on a logarithmic
scale, one mark for each number of threads.
"""

import math
from statistics import geometric_mean
from typing import Any

from rich.table import Table

__all__ = ["plot", "summary", "table"]

Result = dict[str, Any]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def table(result: Result) -> Table:
    """All rows on one number of threads; times are the best in ms, ratios medians of turns."""
    peers = list(result["versions"])
    title = (
        f"{result['threads']} threads of {result['machine']}: copy {result['copy_gb_s']:.1f} GB/s, "
        f"multiply-adds {result['fma_gflop_s']:.0f} GFLOP/s; times in ms"
    )
    headings = ("row", "ours", *peers, "ours ÷ best", "of limit", "checked ÷ unchecked",
                "strict ÷ contract")  # fmt: skip
    shown = Table(*headings, title=title)
    for column in shown.columns[1:]:
        column.justify = "right"
    for row in result["rows"]:
        best, over = row["best_peer"], row["ours_over"]
        against = f"{over[best]:.2f} {best}" if best else ""
        shown.add_row(
            row["row"], _number(row["best_ms"]["ours"]),
            *(_number(row["best_ms"].get(peer)) for peer in peers),
            against, _number(row["limit_over_ours"]),
            _number(over.get("unchecked")), _number(over["contract"]),
        )  # fmt: skip
    return shown


def summary(result: Result) -> list[str]:
    """The mean over each peer, the worst rows, and who is missing."""
    lines = []
    for peer in result["versions"]:
        ratios = {r["row"]: r["ours_over"][peer] for r in result["rows"] if peer in r["ours_over"]}
        if ratios:
            worst = max(ratios, key=lambda name: ratios[name])
            lines.append(
                f"ours ÷ {peer} {result['versions'][peer]}: geometric mean "
                f"{geometric_mean(ratios.values()):.2f} of {len(ratios)} rows, "
                f"worst {ratios[worst]:.2f} ({worst})"
            )
    for row in result["rows"]:
        lines += [f"{name} fails on {row['row']}: {why}" for name, why in row["failed"].items()]
    lines += [f"not measured: {name}, {reason}" for name, reason in result["missing"].items()]
    return lines


# ── the plot ────────────────────────────────────────────────────────────────────────────────────

_LEFT, _LINE, _WIDTH, _TOP = 150, 20, 560, 50
_LEAST, _MOST = 1 / 64, 4.0
_COLOURS = ("#1f6feb", "#d1570a", "#2da44e", "#8250df")


def _across(value: float) -> float:
    held = min(max(value, _LEAST), _MOST)
    return _LEFT + _WIDTH * math.log(held / _LEAST) / math.log(_MOST / _LEAST)


def plot(results: list[Result]) -> str:
    """SVG text."""
    names = [row["row"] for row in results[0]["rows"]]
    height = _TOP + _LINE * (len(names) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 40}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="18">time of ours ÷ best peer (left is faster): '
        + ", ".join(
            f'<tspan fill="{colour}">{result["threads"]} threads</tspan>'
            for result, colour in zip(results, _COLOURS, strict=False)
        )
        + "</text>",
    ]
    for power in range(-6, 3):
        x = _across(2.0**power)
        stroke = "#666" if power == 0 else "#ddd"
        parts.append(
            f'<line x1="{x:.1f}" y1="{_TOP - 8}" x2="{x:.1f}" y2="{height - 8}" stroke="{stroke}"/>'
            f'<text x="{x:.1f}" y="{_TOP - 12}" text-anchor="middle">{2.0**power:g}</text>'
        )
    for number, name in enumerate(names):
        y = _TOP + _LINE * number + 8
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{name}</text>')
        for result, colour in zip(results, _COLOURS, strict=False):
            row = result["rows"][number]
            if row["best_peer"]:
                x = _across(row["ours_over"][row["best_peer"]])
                parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{colour}"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"
