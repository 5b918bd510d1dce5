"""Machine code for readers: its loops are those of its jumps, the hot one is where the work is."""

import io
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import cubepy as cb
from cubepy import Array, f32
from cubepy.errors import UnsupportedError
from cubepy.inspection import HotLoop, Inspection, asm_listing, hot_loop
from cubepy.target import CodeLoop, MachineCode
from cubepy_cpu.places import is_instruction
from tests.unit.inspection.test_inspection import EXAMPLES, SIGNATURES, V3

COOPERATING = {"matmul": (16, 16), "softmax_rows": (64,), "block_sum": (256,)}


@cb.cube
def works(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    v = x[i]
    for k in range(3):
        v += x[k]
    total = 0.0
    for _ in range(300):
        total = total / (v + 2.0) + 1.0  # hot
    out[i] = total


@cb.cube
def straight(x: Array[f32]) -> None:
    if cb.UNIT_POS == 0:
        x[0] = 1.0


def line_of(text: str) -> int:
    lines = Path(__file__).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def inspected(name: str, target: str = V3) -> Inspection:
    kernel, signature = EXAMPLES[name], SIGNATURES.get(name, "")
    if name in COOPERATING:
        launcher = kernel[4, COOPERATING[name]]
        return launcher.inspect(signature=signature, target=target)
    return kernel.inspect(signature=signature, target=target)


def code_of(inspection: Inspection) -> MachineCode:
    code = inspection.machine_code
    assert code is not None
    return code


# ── the loops, from the jumps alone ─────────────────────────────────────────────────────────────


def flow(text: str) -> tuple[Mapping[int, list[int]], list[int]]:
    """Where each instruction may go on, by lines, and those that functions begin with."""
    lines = dict(enumerate(text.splitlines(), 1))
    numbers = [number for number, line in lines.items() if is_instruction(line)]
    behind: dict[int, int] = dict(itertools.pairwise(numbers))
    labels, entries, waiting = {}, [], []
    for number, line in lines.items():
        if re.match(r"[\w.]+:", line):
            waiting.append(line.partition(":")[0])
        elif is_instruction(line):
            labels.update(dict.fromkeys(waiting, number))
            if any(not name.startswith(".L") for name in waiting):
                entries.append(number)
            waiting = []
    successors: dict[int, list[int]] = {}
    for number in numbers:
        words = lines[number].split()
        target = labels.get(words[-1]) if words[0].startswith("j") else None
        ends = words[0] in ("jmp", "retq")
        successors[number] = [behind[number]] if not ends and number in behind else []
        successors[number] += [target] if target is not None else []
    return successors, entries


def dominators(successors: Mapping[int, list[int]], entries: list[int]) -> dict[int, set[int]]:
    """Whom one must pass to come somewhere, as sets of lines."""
    before: dict[int, list[int]] = defaultdict(list)
    for here, there in successors.items():
        for each in there:
            before[each].append(here)
    everything = set(successors)
    found = dict.fromkeys(successors, everything)
    found.update({entry: {entry} for entry in entries})
    changed = True
    while changed:
        changed = False
        for number in successors:
            if number in entries:
                continue
            met = [found[each] for each in before[number]]
            new = (set.intersection(*met) if met else set()) | {number}
            if new != found[number]:
                found[number], changed = new, True
    return found


def natural_loops(text: str) -> dict[int, set[int]]:
    """Lines of each loop by that of its header."""
    successors, entries = flow(text)
    known = dominators(successors, entries)
    before: dict[int, list[int]] = defaultdict(list)
    for here, there in successors.items():
        for each in there:
            before[each].append(here)
    loops: dict[int, set[int]] = defaultdict(set)
    for here, there in successors.items():
        for header in there:
            if header not in known[here]:
                continue
            loops[header].add(header)
            waiting = [here]
            while waiting:
                each = waiting.pop()
                if each not in loops[header]:
                    loops[header].add(each)
                    waiting += before[each]
    return loops


@pytest.mark.parametrize("name", ["saxpy", "gelu", "collatz_lengths", "matmul", "block_sum"])
def test_loops_are_those_of_the_jumps(name: str) -> None:
    code = code_of(inspected(name))
    expected = natural_loops(code.text)
    lines = code.text.splitlines()
    whole = [set(loop.lines) for loop in code.loops if not loop.edges]
    assert whole
    matched = set()
    for loop in code.loops:
        # A jump out of a loop stands in its last block.
        own = {number for number in loop.lines if "jmp" not in lines[number - 1]}
        inside = [each for each in whole if each < set(loop.lines)]
        (header,) = (
            number
            for number, natural in expected.items()
            if own <= natural and number in own and not any(number in each for each in inside)
        )
        matched.add(header)
        left = expected[header] - set(loop.lines)  # what only units at the edges run
        assert not left or not loop.edges
        assert all(left.isdisjoint(each) for each in inside)
    assert matched == set(expected)


def test_edges_are_apart() -> None:
    gelu = code_of(inspected("gelu"))
    assert [loop.edges for loop in gelu.loops].count(True) == 1
    lines = gelu.text.splitlines()
    whole = [loop for loop in gelu.loops if loop.innermost and not loop.edges]
    assert len(whole) == 1
    assert not any("vmaskmov" in lines[number - 1] for number in whole[0].lines)
    masked = next(loop for loop in gelu.loops if loop.edges)
    assert any("vmaskmov" in lines[number - 1] for number in masked.lines)


# ── the hot loop ────────────────────────────────────────────────────────────────────────────────


def hot_of(inspection: Inspection) -> HotLoop:
    found = hot_loop(inspection)
    assert found is not None
    return found


@pytest.mark.parametrize("machine", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "neoverse-n1"])
def test_the_hot_loop_is_where_the_work_is(machine: str) -> None:
    inspection = works.inspect(signature="", target=f"cpu:{machine}")
    hot, lines = hot_of(inspection), code_of(inspection).text.splitlines()
    assert line_of("# hot") in hot.source
    assert not hot.code.edges
    assert any("div" in lines[number - 1] for number in hot.code.lines)
    assert f"of {code_of(inspection).instructions} instructions" in str(hot)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("matmul", "total += tile_a[ty, k] * tile_b[k, tx]"),
        ("conv2d", "total += image[row, col] * weights[dy, dx]"),
    ],
)
def test_hot_loops_of_the_examples(name: str, text: str) -> None:
    inspection = inspected(name)
    source = Path(inspection.stages.lowered.loc.file).read_text("utf-8").splitlines()
    hot = hot_of(inspection)
    assert any(text in source[line - 1] for line in hot.source)
    deepest = max(loop.depth for loop in code_of(inspection).loops if not loop.edges)
    assert hot.code.depth == deepest


# ── the listing ─────────────────────────────────────────────────────────────────────────────────


def rows(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines()[3:]:
        if not re.fullmatch(r"  [\w.]+:", line):
            yield line[:1], line[2:]


def test_the_listing_has_every_instruction_with_its_line() -> None:
    inspection = works.inspect(signature="", target=V3)
    code, text = code_of(inspection), inspection.asm_listing
    listed = list(rows(text))
    instructions = [line.split() for line in code.text.splitlines() if is_instruction(line)]
    assert [
        row.split()[: len(words)] for (_, row), words in zip(listed, instructions, strict=True)
    ] == instructions
    hot = hot_of(inspection)
    assert sum(mark == "▌" for mark, _ in listed) == len(hot.code.lines)
    divisions = [(mark, row) for mark, row in listed if "divps" in row]
    assert all(str(line_of("# hot")) in row for _, row in divisions)
    assert {mark for mark, _ in divisions} == {"▌", "~"}
    assert any(row.rstrip().endswith("# hot") for _, row in divisions)
    assert "pushq" not in text or not re.search(r"pushq\s+%rbp\s+\d", text)


def test_library_code_stands_at_the_call() -> None:
    text = inspected("gelu").asm_listing
    assert re.search(r"vfmadd\S+\s.*\d  \(arithmetic\.py:\d+\)$", text, re.M)


def test_no_machine_code_is_an_error_and_no_loop_is_told() -> None:
    with pytest.raises(UnsupportedError, match="makes no machine code of works"):
        _ = works.inspect(signature="", target="opencl").asm_listing
    assert hot_loop(works.inspect(signature="", target="opencl")) is None


def test_colour_where_there_is_any() -> None:
    console: Any = Console(file=io.StringIO(), force_terminal=True, width=160, color_system="256")
    console.print(asm_listing(works.inspect(signature="", target=V3)))
    assert "\x1b[" in console.file.getvalue()
    assert CodeLoop.__slots__


def test_the_hot_loop_alone_is_part_of_the_listing() -> None:
    seen = works.inspect(target=V3)
    alone, whole = seen.hot_listing.splitlines(), seen.asm_listing.splitlines()
    hot = [line.split()[1] for line in whole if line.startswith("▌   ")]
    assert [line.split()[1] for line in alone if line.startswith("▌   ")] == hot
    assert 0 < len(alone) < len(whole)
    assert not any(line.startswith(("~", "│")) for line in alone)
