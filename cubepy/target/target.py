"""A target: what code is generated for, as a value one can type.

`Target.parse("cpu:x86-64-v3")` and the like; `str(target)` gives the text back. Options follow
after `+`: `cpu:x86-64-v3+gang=8` fixes the gang width of the CPU code generator,
`cpu+without=strided` does without one of its optimisations. Nothing here asks a device.
"""

from __future__ import annotations

from collections.abc import Iterable

from cubepy import ir
from cubepy.errors import ConfigError, did_you_mean
from cubepy.records import dataclass, field, replace
from cubepy.target.features import Features, features_of
from cubepy.target.switches import OPTIMIZATIONS

__all__ = ["Target"]

LANGUAGES = ("cpu", "reference", "ptx", "opencl", "wgsl")
_RUNTIMES = {"wgsl": "wgpu", "ptx": "cuda"}  # where it has another name
# What may follow the language, where that is known here.
OPTIONS = {"cpu": ("gang", "without"), "reference": ("barriers", "races", "unwritten")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`language` is one of cpu, reference, ptx, opencl, wgsl; `machine` what follows the colon (""
    = default).

    `options` are sorted (name, value) pairs; `features` follow from language and machine unless a
    device's probe replaced them.
    """

    language: str
    machine: str = ""
    options: tuple[tuple[str, str], ...] = ()
    features: Features = field(default_factory=Features)

    @staticmethod
    def parse(text: str) -> Target:
        """A target from its text; raises ConfigError naming what is known."""
        head, *settings = text.split("+")
        language, _, machine = head.partition(":")
        if language not in LANGUAGES:
            raise _no_language(text, language)
        options = tuple(sorted(_option(setting, text) for setting in settings))
        for name, _ in options:
            if name not in OPTIONS.get(language, (name,)):
                raise _unknown(f"target {text!r}: no option {name!r}", name, OPTIONS[language])
        _check_switches(dict(options).get("without", ""), text)
        return Target(
            language=language,
            machine=machine,
            options=options,
            features=features_of(language, machine),
        )

    @property
    def runtime(self) -> str:
        """The runtime that reaches such devices."""
        return _RUNTIMES.get(self.language, self.language)

    def covers(self, other: Target) -> bool:
        """Whether what is meant for `other` runs here: the same language, as good a machine."""
        if self.language != other.language or not other.machine:
            return self.language == other.language
        here, there = self.features, other.features
        if self.language != "cpu":
            return self.machine == other.machine
        same = here.triple.partition("-")[0] == there.triple.partition("-")[0]
        masks = here.mask_registers or not there.mask_registers
        fused = here.fma or not there.fma
        return same and masks and fused and here.vector_bits >= there.vector_bits

    def plane_dim(self, kernel: ir.Kernel) -> int:
        """Units of a plane of a kernel: what it asks for, or what the target has (0: several
        sizes).
        """
        wanted = kernel.options.get("plane_dim", 0)
        assert isinstance(wanted, int)
        return wanted or self.features.plane_dim

    def option(self, name: str, default: str = "") -> str:
        """The value of an option, or `default`."""
        return dict(self.options).get(name, default)

    def does(self, optimization: str) -> bool:
        """Whether an optimisation of `OPTIMIZATIONS` is left on."""
        assert optimization in OPTIMIZATIONS, optimization
        return optimization not in self.option("without").split(",")

    def with_option(self, name: str, value: str) -> Target:
        """The same target with one option set."""
        kept = {**dict(self.options), name: value}
        return replace(self, options=tuple(sorted(kept.items())))

    @property
    def full_name(self) -> str:
        """Its text with the machine that `cpu` stands for: a level, or the processor at hand."""
        if self.language != "cpu" or self.machine not in ("", "native"):
            return str(self)
        if not self.features.cpu_features:
            return str(replace(self, machine=self.features.cpu_name))
        return f"{replace(self, machine='native')} ({self.features.cpu_name})"

    def __str__(self) -> str:
        head = f"{self.language}:{self.machine}" if self.machine else self.language
        return "+".join((head, *(f"{name}={value}" for name, value in self.options)))


def _no_language(text: str, name: str) -> ConfigError:
    """What to say of a name that is no language's, though it may be that of a runtime."""
    of_runtime = next((each for each, runtime in _RUNTIMES.items() if runtime == name), None)
    if of_runtime is None:
        return _unknown(f"no target {text!r}", name, LANGUAGES)
    return ConfigError(
        f"no target {text!r}: {name} is a runtime\n  help: its target is {of_runtime}"
    )


def _unknown(what: str, name: str, known: Iterable[str]) -> ConfigError:
    names = list(known)
    help = did_you_mean(name, names) or "write one of these"
    return ConfigError(f"{what}: known are {', '.join(names)}\n  help: {help}")


def _option(setting: str, text: str) -> tuple[str, str]:
    name, equals, value = setting.partition("=")
    if not (name and equals and value):
        raise ConfigError(
            f"target {text!r}: options are written name=value, not {setting!r}\n"
            "  help: for example reference+races=all"
        )
    return name, value


def _check_switches(without: str, text: str) -> None:
    for name in without.split(",") if without else ():
        if name not in OPTIMIZATIONS:
            raise _unknown(f"target {text!r}: no optimisation {name!r}", name, OPTIMIZATIONS)
