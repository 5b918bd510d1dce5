"""Arguments of a call bound to parameters, and what is said of a call that does not fit."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from cubepy.errors import ArgumentError, did_you_mean

__all__ = ["bound_arguments"]

# Words of a launch that stand beside the sizes, not beside the arguments.
_SIZES = ("check", "cube_count", "cube_dim", "debug", "device", "unit")


def bound_arguments(
    name: str, signature: inspect.Signature, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> inspect.BoundArguments:
    """Arguments by parameter, defaults included; an ArgumentError if the call does not fit."""
    complaint = _complaint(name, signature, arguments, keywords)
    if complaint:
        raise ArgumentError(complaint)
    try:
        bound = signature.bind(*arguments, **keywords)
    except TypeError as error:
        raise ArgumentError(f"{name}: {error}") from None
    bound.apply_defaults()
    return bound


def _complaint(
    name: str, signature: inspect.Signature, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> str:
    parameters = signature.parameters
    if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters.values()):
        return ""  # refused elsewhere, with its place
    unknown = next((word for word in keywords if word not in parameters), None)
    if unknown is not None:
        meant = _meant(name, unknown, parameters)
        return f"{name}: there is no parameter {unknown!r}\n  help: {meant}"
    fixed = next((word for word in keywords
                  if parameters[word].kind is inspect.Parameter.POSITIONAL_ONLY), None)  # fmt: skip
    if fixed is not None:
        return f"{name}: {fixed!r} is given by position only\n  help: leave out {fixed}="
    places = [each.name for each in parameters.values() if each.kind is not each.KEYWORD_ONLY]
    if len(arguments) > len(places):
        return (
            f"{name}: {_counted(len(arguments), 'argument')} given, "
            f"{len(places)} expected\n  help: {_call(name, parameters)}"
        )
    twice = next((word for word in places[: len(arguments)] if word in keywords), None)
    if twice is not None:
        return f"{name}: argument {twice!r} is given twice\n  help: {_call(name, parameters)}"
    given = {*places[: len(arguments)], *keywords}
    missing = [each.name for each in parameters.values()
               if each.name not in given and each.default is each.empty]  # fmt: skip
    if missing and places[:1] == ["self"]:
        return (
            f"{name}: a kernel in a class is called without self\n"
            "  help: leave the parameter self out, and pass what the kernel needs of it"
        )
    if missing:
        words = ", ".join(map(repr, missing))
        verb = "is" if len(missing) == 1 else "are"
        what = "argument" if len(missing) == 1 else "arguments"
        return f"{name}: {what} {words} {verb} missing\n  help: {_call(name, parameters)}"
    return ""


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _call(name: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    """How a call is written."""
    words: list[str] = []
    for each in parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        words.append(each.name if each.default is each.empty else f"{each.name}={each.default!r}")
    return f"the parameters are {name}({', '.join(words)})"


def _meant(name: str, unknown: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    if unknown in _SIZES:
        return (
            f"{unknown} stands with the sizes: {name}.over(shape, {unknown}=…)(…), or "
            f"{name}.launch(…, cube_count=…, cube_dim=…, {unknown}=…)"
        )
    return did_you_mean(unknown, parameters, cutoff=0.5) or _call(name, parameters)
