"""Stage 1, capture: a Python function becomes a :class:`KernelSource`.

The whole file is parsed once and the `def` or `lambda` is found by its first line, so that lines
and columns are true without any dedenting. Nothing is lowered here, and no argument is looked at.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from cubepy import ir
from cubepy.errors import CubeSyntaxError, Diagnostic, SourceUnavailable
from cubepy.frontend.source_search import find_text, was_changed, where_to_put_it
from cubepy.frontend.wording import describe_object
from cubepy.location import Loc
from cubepy.records import dataclass

__all__ = ["FunctionNode", "KernelSource", "SourceText", "capture", "parameters_of"]

FunctionNode = ast.FunctionDef | ast.Lambda


class SourceText:
    """One parsed file: its lines, its tree."""

    def __init__(self, filename: str, lines: list[str]) -> None:
        self.filename = filename
        self.lines = lines
        self.tree = ast.parse("".join(lines), filename)

    def functions_at(self, line: int) -> list[FunctionNode]:
        """Functions whose code begins on a line; only what lies around it is looked at."""
        found: list[FunctionNode] = []
        pending: list[ast.AST] = [self.tree]
        while pending:
            node = pending.pop(0)
            if isinstance(node, ast.FunctionDef | ast.Lambda) and _first_line(node) == line:
                found.append(node)
            pending += [child for child in ast.iter_child_nodes(node) if _spans(child, line)]
        return found

    def column(self, line: int, offset: int) -> int:
        """The column in characters of an offset in UTF-8 bytes."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if text.isascii():
            return offset
        return len(text.encode()[:offset].decode(errors="replace"))

    def loc(self, node: ast.AST, function: str = "") -> Loc:
        """The place of a node."""
        line = getattr(node, "lineno", 0)
        end_line = getattr(node, "end_lineno", None) or line
        return Loc(
            file=self.filename,
            line=line,
            column=self.column(line, getattr(node, "col_offset", 0)),
            end_line=end_line,
            end_column=self.column(end_line, getattr(node, "end_col_offset", None) or 0),
            function=function,
        )


def _spans(node: ast.AST, line: int) -> bool:
    """Whether a line lies within a node; decorators stand above what they decorate."""
    if not isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword):
        return True  # no place of its own, such as the arguments of a function
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    return first <= line <= (node.end_lineno or line)


def _first_line(node: FunctionNode) -> int:
    """The line a code object of this node begins at: its first decorator's."""
    if isinstance(node, ast.Lambda):
        return node.lineno
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelSource:
    """A function and its place in a parsed file. `options` are the kernel's own (`contract`, …)."""

    function: types.FunctionType
    node: FunctionNode
    text: SourceText
    name: str
    options: tuple[tuple[str, ir.AttrValue], ...] = ()

    @property
    def loc(self) -> Loc:
        """The place of the `def`."""
        return self.text.loc(self.node, self.name)

    def place_of(self, parameter: str) -> Loc:
        """The place of a parameter, its annotation included."""
        given = self.node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        name = parameter.partition(".")[0]
        named = (each for each in every if each is not None and each.arg == name)
        return self.text.loc(next(named, self.node), self.name)

    @cached_property
    def signature(self) -> inspect.Signature:
        """Parameters with kinds and defaults, as Python sees them."""
        return inspect.signature(self.function, follow_wrapped=False)

    @cached_property
    def annotations(self) -> Mapping[str, Any]:
        """Annotations as objects, text among them evaluated where the function stands."""
        function = self.function
        if not any(isinstance(value, str) for value in function.__annotations__.values()):
            return dict(function.__annotations__)
        return {
            name: self._annotation(name, value) for name, value in function.__annotations__.items()
        }

    def _annotation(self, name: str, value: object) -> object:
        function = self.function
        variables = {each.__name__: each for each in getattr(function, "__type_params__", ())}
        around = _SURROUNDINGS.get(function.__code__, {})
        scope = {**variables, **closure_values(function), **around}
        try:
            while isinstance(value, str):
                value = _evaluated(value, self.function.__globals__, scope)
        except Exception as error:
            raise CubeSyntaxError(
                Diagnostic(
                    message=f"the annotation {value!r} of {name} cannot be evaluated: {error}",
                    loc=self.loc if name == "return" else self.place_of(name),
                    help="import the names it uses where the kernel is defined",
                )
            ) from error
        return value


def _evaluated(text: str, names: dict[str, Any], scope: Mapping[str, Any]) -> object:
    """The object that an annotation's text means, by the one evaluator the library offers."""

    def holder() -> None: ...

    holder.__annotations__ = {"it": text}
    return inspect.get_annotations(holder, globals=names, locals=scope, eval_str=True)["it"]


# The locals of the function around a kernel, by the kernel's code: annotations that are text may
# name them although the kernel does not capture them.
_SURROUNDINGS: dict[types.CodeType, Mapping[str, Any]] = {}


def closure_values(function: types.FunctionType) -> dict[str, Any]:
    """Captured variables that have a value by now."""
    values: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet
    return values


def names_around(function: types.FunctionType) -> dict[str, Any]:
    """What a function sees of its module and of functions around it, as it is now."""
    return {**function.__globals__, **closure_values(function)}


_TEXTS: dict[str, SourceText] = {}


def _text_of(filename: str, module_globals: dict[str, Any]) -> SourceText | None:
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, module_globals)
    if not lines:
        return None
    known = _TEXTS.get(filename)
    if known is None or (known.lines is not lines and known.lines != lines):
        try:
            known = _TEXTS[filename] = SourceText(filename, lines)
        except SyntaxError:
            return None  # not what was run
    return known


def capture(
    function: Callable[..., Any],
    *,
    options: tuple[tuple[str, ir.AttrValue], ...] = (),
    through_wrappers: bool = True,
) -> KernelSource:
    """The source of a Python function; raises SourceUnavailable where its text is not to be had.

    `through_wrappers`: that of what decorators with `functools.wraps` stand around.
    """
    plain = inspect.unwrap(function) if through_wrappers else function
    if not isinstance(plain, types.FunctionType):
        raise CubeSyntaxError(
            Diagnostic(
                message=f"{describe_object(plain)} is no Python function",
                loc=Loc(file="<unknown>", line=0),
                help="decorate a function written with def or lambda",
            )
        )
    _refuse_generators(plain)
    _remember_surroundings(plain)
    text = _text_of(plain.__code__.co_filename, plain.__globals__)
    if text is not None and was_changed(text.filename, text.lines, plain):
        raise SourceUnavailable(
            f"the source of {plain.__qualname__} in {text.filename} was changed after it was run\n"
            "  help: run it again: importlib.reload(module), or start Python anew"
        )
    node = _node_of(plain, text) if text is not None else None
    if node is None:
        found = find_text(plain)
        text = _text_of(found, plain.__globals__) if found is not None else None
        node = _node_of(plain, text) if text is not None else None
    if text is None or node is None:
        raise SourceUnavailable(
            f"the source text of {plain.__qualname__} ({plain.__code__.co_filename}, line "
            f"{plain.__code__.co_firstlineno}) cannot be found\n"
            f"  help: {where_to_put_it(plain.__code__)}"
        )
    name = plain.__name__ if isinstance(node, ast.FunctionDef) else "lambda"
    return KernelSource(function=plain, node=node, text=text, name=name, options=options)


def _refuse_generators(function: types.FunctionType) -> None:
    flags = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    if function.__code__.co_flags & flags:
        place = Loc(file=function.__code__.co_filename, line=function.__code__.co_firstlineno)
        raise CubeSyntaxError(
            Diagnostic(
                message=f"{function.__qualname__} is a generator or coroutine",
                loc=place,
                help="a kernel is a plain function without yield or await",
            )
        )


def _remember_surroundings(function: types.FunctionType) -> None:
    """Keep the caller's locals if annotations are text and the function is a local one."""
    if "<locals>" not in function.__qualname__:
        return
    wanted = {name for value in function.__annotations__.values() if isinstance(value, str)
              for name in _names_in(value)}  # fmt: skip
    frame = inspect.currentframe()
    while wanted and frame is not None:
        if function.__code__ in frame.f_code.co_consts:
            found = {name: frame.f_locals[name] for name in wanted if name in frame.f_locals}
            _SURROUNDINGS[function.__code__] = found
            return
        frame = frame.f_back


def _names_in(annotation: str) -> set[str]:
    try:
        tree = ast.parse(annotation, mode="eval")
    except SyntaxError:
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _node_of(function: types.FunctionType, text: SourceText) -> FunctionNode | None:
    """The node whose code object the function has."""
    code = function.__code__
    candidates = text.functions_at(code.co_firstlineno)
    if code.co_name != "<lambda>":
        named = [node for node in candidates
                 if isinstance(node, ast.FunctionDef) and node.name == code.co_name]  # fmt: skip
        return named[0] if named and _same_parameters(named[0], code) else None
    lambdas = [node for node in candidates
               if isinstance(node, ast.Lambda) and _same_parameters(node, code)]  # fmt: skip
    return lambdas[0] if len(lambdas) == 1 else _lambda_at(lambdas, code)


def _same_parameters(node: FunctionNode, code: types.CodeType) -> bool:
    names = parameters_of(node.args)
    return tuple(names) == code.co_varnames[: len(names)]


def parameters_of(arguments: ast.arguments) -> list[str]:
    """Names of all parameters in the order of a code object's variables."""
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = [argument.arg for argument in plain]
    names += [star.arg for star in (arguments.vararg, arguments.kwarg) if star is not None]
    return names


def _lambda_at(lambdas: list[ast.Lambda], code: types.CodeType) -> ast.Lambda | None:
    """Of several lambdas on one line, the one whose body holds the code's instructions."""
    places = [(line, column) for line, _, column, _ in code.co_positions()
              if line is not None and column is not None and (line, column) != (code.co_firstlineno, 0)]  # fmt: skip  # noqa: E501
    found: ast.Lambda | None = None
    for node in lambdas:
        body = node.body
        start = (body.lineno, body.col_offset)
        stop = (body.end_lineno or body.lineno, body.end_col_offset or 0)
        inside = places and all(start <= place < stop for place in places)
        if inside and (found is None or start >= (found.body.lineno, found.body.col_offset)):
            found = node  # of lambdas inside each other, the inmost that holds all
    return found
