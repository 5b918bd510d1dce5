"""What `k.inspect(…)` gives: the stages of one specialization, and views of them."""

from __future__ import annotations

import difflib
import functools
from collections import Counter
from typing import TYPE_CHECKING, Any

from cubepy import frontend, ir
from cubepy.compiler import Stages, build
from cubepy.errors import (
    CubeError,
    Diagnostic,
    RuntimeUnavailable,
    UnsupportedError,
    did_you_mean,
)
from cubepy.inspection.resources import Resources, resources_of
from cubepy.late import late_import
from cubepy.records import dataclass
from cubepy.runtime import Runtime, registry
from cubepy.target import Artifact, Decision, MachineCode, Target

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Inspection", "PassStep", "inspect"]

_CONTEXT = 2  # lines of a difference that did not change


@dataclass(frozen=True, slots=True, kw_only=True)
class PassStep:
    """The kernel behind one pass. `name` has a number, `simplify:2`, where the pass runs again."""

    name: str
    kernel: ir.Kernel
    before: ir.Kernel | None = None

    @property
    def text(self) -> str:
        """The IR behind the pass."""
        return ir.print_kernel(self.kernel)

    @property
    def diff(self) -> str:
        """What the pass changed, as a unified difference; empty if nothing."""
        if self.before is None or self.before is self.kernel:
            return ""
        lines = difflib.unified_diff(
            ir.print_kernel(self.before).splitlines(), self.text.splitlines(),
            "before", self.name, lineterm="", n=_CONTEXT,
        )  # fmt: skip
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<pass {self.name}: {'changes the kernel' if self.diff else 'changes nothing'}>"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Inspection:
    """Everything a kernel became for one kind of arguments and one target.

    `ir`, `optimized_ir`, `text`, `llvm`, `asm` are texts; `passes` the IR after each pass and what
    it changed; `decisions` what was chosen and why, line by line; `resources` what it needs.
    `print` shows the decisions and the resources, a notebook all of it. `assumed` tells what nobody
    said of its arguments.
    """

    source: frontend.KernelSource
    specialization: frontend.Specialization
    stages: Stages
    steps: tuple[tuple[str, ir.Kernel], ...]
    assumed: tuple[str, ...] = ()

    @property
    def target(self) -> Target:
        """What it was compiled for."""
        return self.stages.artifact.target

    @property
    def artifact(self) -> Artifact:
        """What the emitter handed to the runtime."""
        return self.stages.artifact

    @property
    def ir(self) -> str:
        """The kernel as the front end made it."""
        return ir.print_kernel(self.stages.lowered)

    @property
    def optimized_ir(self) -> str:
        """The kernel as the emitter got it."""
        return ir.print_kernel(self.stages.optimized)

    @property
    def text(self) -> str:
        """What was emitted, in the target's language."""
        return self.artifact.text

    @functools.cached_property
    def passes(self) -> tuple[PassStep, ...]:
        """The IR after each pass, in order; the first one is `lowered`, before any."""
        runs = Counter(name for name, _ in self.steps)
        seen: Counter[str] = Counter()
        made: list[PassStep] = []
        before: ir.Kernel | None = None
        for name, kernel in self.steps:
            seen[name] += 1
            numbered = f"{name}:{seen[name]}" if runs[name] > 1 else name
            made.append(PassStep(name=numbered, kernel=kernel, before=before))
            before = kernel
        return tuple(made)

    def after(self, name: str) -> PassStep:
        """The step behind a pass: its last run, unless the name says which, as `simplify:1`."""
        return self.runs_of(name)[-1]

    def runs_of(self, name: str) -> tuple[PassStep, ...]:
        """The steps behind every run of a pass, or behind the one that the name says."""
        known = [step.name for step in self.passes]
        if name in known:
            return (self.passes[known.index(name)],)
        runs = tuple(step for step in self.passes if step.name.partition(":")[0] == name)
        if not runs:
            advice = did_you_mean(name, [each.partition(":")[0] for each in known])
            raise CubeError(
                f"no pass {name!r} ran: these did: {', '.join(known)}"
                + (f"\n  help: {advice}" if advice else "")
            )
        return runs

    @property
    def llvm(self) -> str:
        """The LLVM IR; UnsupportedError for a target that is not reached through LLVM."""
        if self.target.language != "cpu":
            raise UnsupportedError(self.missing("LLVM IR"))
        return self.artifact.text

    @functools.cached_property
    def asm(self) -> str:
        """The machine code as assembly; UnsupportedError where there is none."""
        runtime = self._runtime()
        text = runtime.assembly(self.artifact) if runtime is not None else ""
        if not text:
            raise UnsupportedError(self.missing("machine code"))
        return text

    @functools.cached_property
    def machine_code(self) -> MachineCode | None:
        """The machine code with the kernel's place of each line; None where there is none."""
        runtime = self._runtime()
        return runtime.machine_code(self.artifact) if runtime is not None else None

    def _runtime(self) -> Runtime | None:
        """What would load it; kernels are looked at where that is not installed, too."""
        try:
            return registry().runtime(self.target.runtime)
        except RuntimeUnavailable:
            return None

    @property
    def asm_listing(self) -> str:
        """The machine code beside the kernel's lines, its hot loop marked; errors as `asm`."""
        with late_import:
            from cubepy.inspection import assembly, terminal  # noqa: PLC0415 - for people only

        return terminal.plain(assembly.asm_listing(self), wrapped=False)

    @property
    def hot_listing(self) -> str:
        """That loop alone, in which the time goes by the model of costs; errors as `asm`."""
        with late_import:
            from cubepy.inspection import assembly, terminal  # noqa: PLC0415 - for people only

        return terminal.plain(assembly.hot_listing(self), wrapped=False)

    @functools.cached_property
    def resources(self) -> Resources:
        """Memory, registers and code that it needs."""
        return resources_of(self.stages, self.machine_code)

    @functools.cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """What passes and emitter decided and why, by line, each said once."""
        said: dict[tuple[str, int, str, str], Decision] = {}
        for each in (*self.stages.remarks, *self.artifact.decisions):
            said.setdefault((each.loc.file, each.loc.line, each.topic.value, str(each)), each)
        return tuple(sorted(said.values(), key=self._order))

    def _order(self, decision: Decision) -> tuple[bool, str, int]:
        """The kernel's own file first."""
        loc = decision.loc
        return (loc.file != self.stages.lowered.loc.file, loc.file, loc.line)

    @property
    def own_decisions(self) -> tuple[Decision, ...]:
        """Those in the kernel's own file: without what its library functions became."""
        file = self.stages.lowered.loc.file
        return tuple(each for each in self.decisions if each.loc.file == file)

    def missing(self, what: str) -> Diagnostic:
        """That the target makes no such thing."""
        return Diagnostic(
            message=f"the target {self.target} makes no {what} of {self.stages.lowered.name}",
            loc=self.stages.lowered.loc,
            help="`text` has what it makes; target='cpu' makes both",
        )

    # ── for people ──────────────────────────────────────────────────────────────────────────────

    def __repr__(self) -> str:
        count = len(self.decisions)
        name = f"{self.source.name} for {self.target.full_name}"
        return f"<{name}: {count} decisions, print to see them>"

    def __str__(self) -> str:
        with late_import:
            from cubepy.inspection import terminal  # noqa: PLC0415 - for people only

        return terminal.plain(terminal.rendered(self))

    def __rich__(self) -> RenderableType:
        with late_import:
            from cubepy.inspection import terminal  # noqa: PLC0415

        return terminal.rendered(self)

    def show(self) -> None:
        """Print in colour, where the terminal has any."""
        with late_import:
            from rich.console import Console  # noqa: PLC0415

        Console().print(self)

    def _repr_html_(self) -> str:
        with late_import:
            from cubepy.inspection import notebook  # noqa: PLC0415

        return notebook.page(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 (IPython's own)
        printer.text(repr(self) if cycle else str(self))


def inspect(
    source: frontend.KernelSource,
    specialization: frontend.Specialization,
    target: Target,
    *,
    assumed: tuple[str, ...] = (),
) -> Inspection:
    """Run all stages up to the artifact, and keep what each made."""
    steps: list[tuple[str, ir.Kernel]] = []

    def observe(name: str, kernel: ir.Kernel) -> None:
        steps.append((name, kernel))

    stages = build(source, specialization, target, observe=observe)
    return Inspection(
        source=source,
        specialization=specialization,
        stages=stages,
        steps=tuple(steps),
        assumed=assumed,
    )
