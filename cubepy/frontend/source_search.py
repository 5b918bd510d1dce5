"""Text of functions that stand in no file: from `exec`, `python -c`, standard input, a prompt.

A text is believed only if compiling it gives the very code object of the function; then it is put
where `linecache` finds it, so that errors can show it.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import linecache
import os
import stat
import sys
import time
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

__all__ = ["exec_text", "find_text", "was_changed", "where_to_put_it"]

_PROMPT_LINES = 400
_STARTED = time.time()
_CODES: dict[str, tuple[str, tuple[types.CodeType, ...]]] = {}  # of files written since
_NAMES: dict[str, str] = {}  # of texts that linecache holds for us


def find_text(function: types.FunctionType) -> str | None:
    """The name under which `linecache` has the function's text, if some text can be found."""
    code = function.__code__
    for text in _candidates(code):
        if _holds(text, code):
            return _remember(text)
    return None


def exec_text(text: str, namespace: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run `text` as Python's `exec` does, its kernels with their source; gives the namespace.

    Without a namespace it is that of the caller's module.
    """
    if namespace is None:
        caller = inspect.currentframe()
        assert caller is not None
        assert caller.f_back is not None
        namespace = caller.f_back.f_globals
    name = _remember(text)
    code = builtins.compile(text, name, "exec", dont_inherit=True)
    exec(code, namespace)  # noqa: S102 (running the caller's own text is what this is for)
    return namespace


def where_to_put_it(code: types.CodeType) -> str:
    """What to do about a function whose text is not to be had."""
    if code.co_filename == "<stdin>" and not hasattr(sys, "ps1"):
        return (
            "keep the program in a file; of a pipe nothing is left once Python has read it: "
            "for  python - <<'END'  write  python -c \"$(cat <<'END'  "
            'and  )"  in a line below END'
        )
    return 'keep kernels in a file or a notebook, or run their text: cubepy.exec("""…""")'


def was_changed(filename: str, lines: Sequence[str], function: types.FunctionType) -> bool:
    """Whether a file no longer holds the function, having been written since cubepy was imported.

    An older file needs no second look: what was imported from it is what it holds.
    """
    try:
        if os.stat(filename).st_mtime < _STARTED:
            return False
    except OSError:
        return False  # no file: a notebook's cell, a member of an archive
    text = "".join(lines)
    known = _CODES.get(filename)
    if known is None or known[0] != text:
        known = _CODES[filename] = (text, tuple(_codes(text, filename)))
    code = function.__code__
    place = (code.co_name, code.co_firstlineno)
    same_place = [each for each in known[1] if (each.co_name, each.co_firstlineno) == place]
    meaning = _meaning(code)
    return bool(known[1]) and all(_meaning(each) != meaning for each in same_place)


def _meaning(code: types.CodeType) -> tuple[object, ...]:
    """The instructions of a function, as far as they do not depend on the text around it.

    Python 3.11 calls `cb.sqrt` in another way where it sees `import cubepy as cb` in the same text.
    """
    steps: list[object] = [code.co_varnames, code.co_names]
    for step in dis.get_instructions(code):
        if step.opname in ("CACHE", "PUSH_NULL", "PRECALL"):
            continue
        jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
        value = None if jumps else step.argval
        if isinstance(value, types.CodeType):
            value = _meaning(value)
        name = "LOAD_ATTR" if step.opname == "LOAD_METHOD" else step.opname
        steps.append((name, type(value), repr(value)))
    return tuple(steps)


def _codes(text: str, filename: str) -> Iterator[types.CodeType]:
    """Every code object of a text; none if it does not compile."""
    try:
        pending = [builtins.compile(text, filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return
    while pending:
        current = pending.pop()
        yield current
        pending.extend(part for part in current.co_consts if isinstance(part, types.CodeType))


def _remember(text: str) -> str:
    name = _NAMES.get(text)
    if name is None:
        name = _NAMES[text] = f"<cubepy text {len(_NAMES) + 1}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


def _candidates(code: types.CodeType) -> Iterator[str]:
    """Texts that may hold the function: the command line's, those of callers, the prompt's."""
    arguments = sys.orig_argv
    if "-c" in arguments and arguments.index("-c") + 1 < len(arguments):
        yield arguments[arguments.index("-c") + 1]
    if code.co_filename == "<stdin>":
        yield from _standard_input()
    seen: set[int] = set()
    frame = inspect.currentframe()
    while frame is not None:
        yield from _texts(frame.f_locals.values(), code)
        if id(frame.f_globals) not in seen:
            seen.add(id(frame.f_globals))
            yield from _texts(frame.f_globals.values(), code)
        yield from _texts(frame.f_code.co_consts, code)  # exec("""…""")
        frame = frame.f_back
    yield from _prompt(code)


def _standard_input() -> Iterator[str]:
    """The whole of standard input, if it is a file, which can be read once more."""
    try:
        file = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
        size = os.fstat(file).st_size
        if stat.S_ISREG(os.fstat(file).st_mode) and hasattr(os, "pread"):
            yield os.pread(file, size, 0).decode()
    except (OSError, ValueError):  # closed, replaced, or no text
        return


def _texts(values: Iterable[Any], code: types.CodeType) -> Iterator[str]:
    for value in list(values):
        if isinstance(value, str) and code.co_name.strip("<>") in value:
            yield value


def _prompt(code: types.CodeType) -> Iterator[str]:
    """Ends of the readline history, from the last line that may begin the function."""
    readline = sys.modules.get("readline")
    if readline is None or not code.co_filename.startswith("<"):
        return
    length = readline.get_current_history_length()
    lines = [readline.get_history_item(number) or ""
             for number in range(max(1, length - _PROMPT_LINES), length + 1)]  # fmt: skip
    for start in range(len(lines) - 1, -1, -1):
        if lines[start].lstrip().startswith(("@", "def ")):
            yield "\n".join(lines[start:]) + "\n"


def _holds(text: str, code: types.CodeType) -> bool:
    """Whether compiling a text gives the code object."""
    return any(found == code for found in _codes(text, code.co_filename))
