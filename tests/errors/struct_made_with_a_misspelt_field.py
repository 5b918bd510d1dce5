# mypy: ignore-errors
import cubepy as cb
from cubepy import f32


@cb.struct
class Point:
    across: f32
    down: f32 = 0.0


def run():
    Point(acros=1.0)
