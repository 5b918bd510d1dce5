"""Frozen records behave as the standard library's frozen dataclasses, in every option used here."""

import copy
import dataclasses
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from cubepy import records

OPTIONS = [
    dict(zip(("slots", "kw_only", "eq", "repr"), chosen, strict=True))
    for chosen in itertools.product((False, True), repeat=4)
]
Pair = tuple[Any, Any]


def both(options: dict[str, bool]) -> Pair:
    """The same class, made here and by the standard library."""

    def make(decorator: Callable[..., Any], field: Callable[..., Any]) -> Any:
        @decorator(frozen=True, **options)
        class Point:
            x: int
            name: str = "origin"
            tags: list[int] = field(default_factory=list)
            hidden: int = field(default=7, compare=False, repr=False)

            @property
            def twice(self) -> int:
                return 2 * self.x

        return Point

    return make(records.dataclass, records.field), make(dataclasses.dataclass, dataclasses.field)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_objects_behave_alike(options: dict[str, bool]) -> None:
    ours, theirs = both(options)
    for values in ({"x": 1}, {"x": 2, "name": "b", "tags": [1], "hidden": 0}):
        mine, other = ours(**values), theirs(**values)
        assert dataclasses.asdict(mine) == dataclasses.asdict(other)
        assert mine.twice == other.twice
        if options["repr"]:
            assert repr(mine) == repr(other)
        assert (mine == ours(**values)) is (other == theirs(**values)) is options["eq"]
        assert mine != other
        assert hasattr(mine, "__dict__") is hasattr(other, "__dict__")
        changed = dataclasses.replace(mine, name="changed")
        assert (changed.x, changed.name, changed.tags) == (mine.x, "changed", mine.tags)
        for made in (mine, other):
            with pytest.raises(dataclasses.FrozenInstanceError):
                made.x = 3
            with pytest.raises(dataclasses.FrozenInstanceError):
                del made.x
    assert ours(x=1).tags is not ours(x=1).tags


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_wrong_fields_are_refused_alike(options: dict[str, bool]) -> None:
    for made in both(options):
        for arguments, values in (
            ((), {}),
            ((), {"name": "a"}),
            ((), {"x": 1, "y": 2}),
            ((), {"x": 1, "name": "a", "tags": [], "hidden": 1, "y": 2}),
            ((), {"name": "a", "tags": [], "hidden": 1, "y": 2}),
            ((1,), {"x": 2}),
            ((1, 2, 3, 4, 5), {}),
        ):
            with pytest.raises(TypeError):
                made(*arguments, **values)


def test_fields_without_a_name_come_first() -> None:
    ours, theirs = both({"slots": True, "kw_only": False, "eq": True, "repr": True})
    for made in (ours, theirs):
        assert dataclasses.astuple(made(1, "a")) == (1, "a", [], 7)
        assert made.__match_args__ == ("x", "name", "tags", "hidden")
    keyword_only = both({"slots": True, "kw_only": True, "eq": True, "repr": True})
    for made in keyword_only:
        assert made.__match_args__ == ()
        with pytest.raises(TypeError):
            made(1)


@records.dataclass(frozen=True, slots=True)
class Base:
    a: int
    b: tuple[int, ...] = ()


@records.dataclass(frozen=True, slots=True)
class Derived(Base):
    c: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "b", (*self.b, self.a))


@records.dataclass(frozen=True, slots=True)
class Named:
    a: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.a % 10 == other.a % 10

    def __hash__(self) -> int:
        return self.a % 10

    def __repr__(self) -> str:
        return "named"


def test_fields_are_inherited_and_the_last_word_is_the_class_own() -> None:
    made = Derived(3, (1,), 2.5)
    assert (made.a, made.b, made.c) == (3, (1, 3), 2.5)
    assert Derived(3).c == 0.5
    assert not hasattr(made, "__dict__")
    assert Base(1) != Derived(1, ())
    assert hash(Base(1, (2,))) == hash(Base(1, (2,)))
    assert Named(3) == Named(13)
    assert hash(Named(3)) == hash(Named(13))
    assert repr(Named(3)) == "named"


@pytest.mark.parametrize("value", [Base(1, (2, 3)), Derived(1), Named(5)])
def test_copies_and_pickles(value: Any) -> None:
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert again == value
        assert type(again) is type(value)


def test_they_count_as_frozen() -> None:
    assert Base.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert dataclasses.is_dataclass(Derived)


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("eq", [False, True])
def test_classes_that_are_not_frozen_behave_alike(*, slots: bool, eq: bool) -> None:
    def make(decorator: Callable[..., Any], field: Callable[..., Any]) -> Any:
        @decorator(slots=slots, kw_only=True, eq=eq)
        class Mutable:
            a: int = 1
            parts: list[int] = field(default_factory=list)
            later: int = field(init=False, repr=False, compare=False)

            def __post_init__(self) -> None:
                self.later = self.a + 1

        return Mutable

    ours, theirs = (
        make(records.dataclass, records.field),
        make(dataclasses.dataclass, dataclasses.field),
    )
    for cls in (ours, theirs):
        made = cls()
        assert made.later == 2
        made.a = 5
        made.parts.append(2)
        assert (made == cls(a=5, parts=[2])) is eq
        assert repr(made).endswith("Mutable(a=5, parts=[2])")
        assert (cls.__hash__ is None) is eq
        assert hasattr(made, "__dict__") is not slots
        assert dataclasses.asdict(made) == {"a": 5, "parts": [2], "later": 2}
        assert dataclasses.replace(made, a=7).later == 8
        with pytest.raises(TypeError):
            cls(later=1)
        assert not cls.__dataclass_params__.frozen
        assert cls().parts == []


def test_the_standard_library_sees_the_same_fields() -> None:
    ours, theirs = both({"slots": True, "kw_only": True, "eq": True, "repr": True})
    words = ("name", "compare", "repr", "kw_only", "default", "hash", "init")
    for mine, other in zip(dataclasses.fields(ours), dataclasses.fields(theirs), strict=True):
        assert [getattr(mine, word) for word in words] == [getattr(other, word) for word in words]
    assert [each.name for each in records.fields(theirs)] == [
        each.name for each in records.fields(ours)
    ]
    assert records.replace(theirs(x=1), x=2) == theirs(x=2)
    assert records.is_dataclass(theirs)
    assert records.is_dataclass(ours(x=1))
    assert not records.is_dataclass(int)


def test_a_call_that_does_not_fit_says_what_is_wrong() -> None:
    with pytest.raises(TypeError, match="Base is missing 'a'"):
        Base()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Base has no field 'z'"):
        Base(a=1, z=2)  # type: ignore[call-arg]
