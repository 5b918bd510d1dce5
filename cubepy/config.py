"""Settings: `cubecl.toml` and the environment become one frozen :class:`Config`, passed down.

The file is the first `cubecl.toml` from the working directory upwards, or the one `CUBEPY_CONFIG`
names; each setting also has an environment variable, which wins. A key or value that is not known
is an error with the nearest one that is. `current()` reads once per process; `origins` say where
each value came from.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cubepy.errors import ConfigError, did_you_mean
from cubepy.late import late_import
from cubepy.records import dataclass, field, fields

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CacheConfig", "CompilationConfig", "Config", "RuntimeConfig", "current", "load"]

FILE_NAME = "cubecl.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """How one setting is written: its variable in the environment, and the words it may be."""

    variable: str
    choices: tuple[str, ...] = ()
    minimum: int = 0


def _setting(
    default: Any, variable: str, *, choices: tuple[str, ...] = (), minimum: int = 0
) -> Any:
    setting = _Setting(variable=variable, choices=choices, minimum=minimum)
    return field(default=default, metadata={"setting": setting})


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilationConfig:
    """`check`: what `check="auto"` of a launch means. `verify`: when IR is verified.

    `tracebacks`: whether those of a user's mistakes show cubepy's own lines.
    """

    check: str = _setting("checked", "CUBEPY_CHECK", choices=("checked", "validate", "unchecked"))
    verify: str = _setting("stages", "CUBEPY_VERIFY", choices=("stages", "every_pass"))
    tracebacks: str = _setting("short", "CUBEPY_TRACEBACKS", choices=("short", "full"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheConfig:
    """The store of compiled code: `folder` ("" = the user's own), `max_bytes` before eviction."""

    enabled: bool = _setting(True, "CUBEPY_CACHE")
    folder: str = _setting("", "CUBEPY_CACHE_DIR")
    max_bytes: int = _setting(1 << 30, "CUBEPY_CACHE_MAX_BYTES")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeConfig:
    """`device`: where launches without one go. `threads`: of the CPU, 0 for one per core.

    `native`: whether launches on the CPU may be taken in machine code, without Python.
    """

    device: str = _setting("cpu", "CUBEPY_DEVICE")
    threads: int = _setting(0, "CUBEPY_NUM_THREADS")
    native: bool = _setting(True, "CUBEPY_NATIVE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings. `origins` maps `section.key` to its source, for those that were set."""

    compilation: CompilationConfig = field(default_factory=CompilationConfig)
    cache: CacheConfig = field(default_factory=CacheConfig)
    runtime: RuntimeConfig = field(default_factory=RuntimeConfig)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)


_SECTIONS: dict[str, type[Any]] = {
    "compilation": CompilationConfig,
    "cache": CacheConfig,
    "runtime": RuntimeConfig,
}
_SWITCHES = {
    "1": True, "true": True, "on": True, "yes": True,
    "0": False, "false": False, "off": False, "no": False,
}  # fmt: skip


@functools.cache
def current() -> Config:
    """The settings of this process, read when first asked for."""
    return load()


def load(folder: str | Path | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """Settings seen from `folder` (default: working directory) under `environment`."""
    variables = os.environ if environment is None else environment
    path = _find("." if folder is None else folder, variables)
    written = {} if path is None else _read(path)
    origins: dict[str, str] = {}
    sections = {
        name: section(**_values(name, section, written.get(name, {}), path, variables, origins))
        for name, section in _SECTIONS.items()
    }
    return Config(**sections, origins=origins)


def _find(folder: str | Path, variables: Mapping[str, str]) -> str | None:
    named = variables.get("CUBEPY_CONFIG")
    if named:
        if not os.path.isfile(named):
            raise ConfigError(
                f"CUBEPY_CONFIG names {named}, which is not a file\n"
                f"  help: without it a {FILE_NAME} is looked for here and in the folders above"
            )
        return named
    place, below = os.path.realpath(folder), ""
    while place != below:
        path = os.path.join(place, FILE_NAME)
        if os.path.isfile(path):
            return path
        place, below = os.path.dirname(place), place
    return None


def _read(path: str) -> dict[str, dict[str, Any]]:
    with late_import:
        import tomllib  # noqa: PLC0415 - most programs have no such file

    try:
        with open(path, "rb") as file:
            written = tomllib.load(file)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"{path}: {error}\n"
            "  help: a section is a line like [runtime], a setting one below it like threads = 2"
        ) from error
    for name, section in written.items():
        if name not in _SECTIONS:
            raise ConfigError(f"{path}: no section [{name}]\n  help: {_place_of(name)}")
        if not isinstance(section, dict):
            raise ConfigError(
                f"{path}: {name} is a section, not a setting\n"
                f"  help: write [{name}] on a line, and its settings below it"
            )
        known = _settings_of(name)
        for key in section:
            if key not in known:
                raise ConfigError(
                    f"{path}: no setting {key!r} in [{name}]\n"
                    f"  help: {did_you_mean(key, known) or _place_of(key)}"
                )
    return written


def _settings_of(section: str) -> list[str]:
    return [entry.name for entry in fields(_SECTIONS[section])]


def _place_of(name: str) -> str:
    """A help line for a name that is no section, or no setting of the section it stands in."""
    section = next((section for section in _SECTIONS if name in _settings_of(section)), None)
    if section is not None:
        return f"{name} stands below [{section}]"
    known = (f"[{section}] with {', '.join(_settings_of(section))}" for section in _SECTIONS)
    return did_you_mean(name, _SECTIONS) or f"there are {'; '.join(known)}"


def _values(
    name: str,
    section: type[Any],
    written: Mapping[str, Any],
    path: str | None,
    variables: Mapping[str, str],
    origins: dict[str, str],
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for entry in fields(section):
        setting: _Setting = entry.metadata["setting"]
        if setting.variable in variables:
            origin = setting.variable
            value = _of_text(variables[setting.variable], entry.default, origin)
        elif entry.name in written:
            origin, value = f"{path}: {name}.{entry.name}", written[entry.name]
        else:
            continue
        _check(value, entry.default, setting, origin)
        values[entry.name], origins[f"{name}.{entry.name}"] = value, origin
    return values


def _of_text(text: str, default: object, origin: str) -> Any:
    if isinstance(default, bool):
        if text.lower() not in _SWITCHES:
            raise ConfigError(f"{origin} is {text!r}, neither on nor off\n  help: write 1 or 0")
        return _SWITCHES[text.lower()]
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError as error:
            raise ConfigError(
                f"{origin} is {text!r}, not a whole number\n  help: write digits, such as {default}"
            ) from error
    return text


def _check(value: object, default: object, setting: _Setting, origin: str) -> None:
    if type(value) is not type(default):
        raise ConfigError(
            f"{origin} is {value!r}: expects {type(default).__name__}, got {type(value).__name__}\n"
            f"  help: the default is {_written(default)}"
        )
    if setting.choices and value not in setting.choices:
        words = ", ".join(setting.choices)
        near = did_you_mean(str(value), setting.choices)
        raise ConfigError(
            f"{origin} is {value!r}: expects one of {words}\n"
            f"  help: {near or f'the default is {default}'}"
        )
    if isinstance(value, int) and value < setting.minimum:
        raise ConfigError(
            f"{origin} is {value}: expects at least {setting.minimum}\n"
            f"  help: the default is {default}"
        )


def _written(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
