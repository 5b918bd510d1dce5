"""Shared and local arrays in a debugger: what the stepped unit itself knows of their elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cubepy.frontend import Unseen, applied
from cubepy.ir import PrivateType, SharedType

__all__ = ["SeenMemory"]

_Cut = Callable[[Any], Any]
_UNKNOWN = Unseen()


class SeenMemory:
    """An array of a cube or a unit, as far as one unit has read or written it.

    What other units wrote since is not known: a barrier takes away all that was known of shared
    memory. An element that is not known is an error to ask for, never another value.
    """

    def __init__(self, name: str, type: SharedType | PrivateType) -> None:
        self._name, self._type = name, type
        self._known: dict[tuple[int, ...], Any] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return tuple(self._type.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: Any) -> Any:
        subscripts = tuple(map(int, place if isinstance(place, tuple) else (place,)))
        if subscripts in self._known:
            return self._known[subscripts]
        shown = ", ".join(map(str, subscripts))
        since = " since the last barrier" if isinstance(self._type, SharedType) else ""
        raise LookupError(f"this unit has neither read nor written {self._name}[{shown}]{since}")

    def __repr__(self) -> str:
        known = ", ".join(
            f"[{', '.join(map(str, place))}]: {value}" for place, value in self._known.items()
        )
        return f"<{self._name}: {self._type}; this unit knows {known or 'no element'}>"

    def part(self, cut: _Cut) -> SeenPart:
        """A view of it, known as far as the unit knows its elements whenever it is asked."""
        return SeenPart(self, cut)

    def content(self) -> Any:
        """All elements in an array of objects; those that are not known are no numbers."""
        made = np.full(self.shape, _UNKNOWN, object)
        for place, value in self._known.items():
            made[place] = value
        return made

    def note(self, place: tuple[int, ...], value: Any) -> None:
        """The unit read or wrote an element."""
        self._known[place] = value

    def forget(self, place: tuple[int, ...]) -> None:
        """An atomic changed an element: what it is now, another unit may have a say in."""
        self._known.pop(place, None)

    def meet_barrier(self) -> None:
        """Others may have written behind it what all may read."""
        if isinstance(self._type, SharedType):
            self._known.clear()


class SeenPart:
    """A row or another view of such an array; `cut` makes it of the whole."""

    def __init__(self, whole: SeenMemory | SeenPart, cut: _Cut) -> None:
        self._whole, self._cut = whole, cut

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return tuple(np.shape(self.content()))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: Any) -> Any:
        found = self.content()[place]
        if found is _UNKNOWN:
            raise LookupError("this unit has neither read nor written this element")
        return found

    def __repr__(self) -> str:
        return repr(self.content())

    def part(self, cut: _Cut) -> SeenPart:
        """A view of the view."""
        return SeenPart(self, cut)

    def content(self) -> Any:
        """As that of the whole."""
        return applied(self._cut, self._whole.content())
