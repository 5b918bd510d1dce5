# mypy: ignore-errors
import cubepy as cb
from cubepy import f32


@cb.struct
class Point:
    across: f32
    down: f32

    @classmethod
    def origin(cls):
        return cls(0.0, 0.0)


def run():
    Point(1.0, 2.0, 3.0)
