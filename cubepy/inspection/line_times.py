"""What share of the time each line of a kernel takes, by samples."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath

from cubepy.location import Loc, line_of

__all__ = ["LineTimes"]

_MOST = 20  # lines that are printed


class LineTimes(Counter[Loc]):
    """Samples by place; `print` shows the kernel's own lines, those that take most first."""

    def by_line(self) -> Counter[tuple[str, int]]:
        """Samples by the kernel's own file and line; what is called counts for that of the call."""
        found: Counter[tuple[str, int]] = Counter()
        for place, count in self.items():
            outer = place
            while outer.inlined_at is not None:
                outer = outer.inlined_at
            found[outer.file, outer.line] += count
        return found

    def __repr__(self) -> str:
        return f"<{self.total():,} samples in {len(self.by_line())} lines, print to see them>"

    def __str__(self) -> str:
        lines, total = self.by_line(), self.total()
        made = [f"{total:,} samples"]
        for (file, line), count in lines.most_common(_MOST):
            place = f"{PurePath(file).name}:{line}"
            made.append(f"  {count / total:6.1%}  {place}  {line_of(file, line).strip()}".rstrip())
        if len(lines) > _MOST:
            made.append(f"  … and {len(lines) - _MOST} lines more")
        return "\n".join(made)
