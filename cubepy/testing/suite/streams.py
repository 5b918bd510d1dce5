"""What streams must do: order within one, order between two that share memory, and time."""

from __future__ import annotations

import numpy as np

from cubepy import frontend
from cubepy.cube import cube
from cubepy.errors import OutOfBoundsError
from cubepy.frontend import Array as Vector
from cubepy.frontend import f32, i32
from cubepy.runtime import Stream
from cubepy.testing.suite.subject import Subject, same, where_supported

__all__ = ["StreamSuite"]

COUNT = 5000


@cube
def step(x: Vector[i32], factor: i32, add: i32) -> None:
    """Steps that give another result in another order."""
    i = frontend.ABSOLUTE_POS
    x[i] = x[i] * factor + add


@cube
def added(x: Vector[i32], out: Vector[i32]) -> None:
    """Out += x."""
    i = frontend.ABSOLUTE_POS
    out[i] = out[i] + x[i]


@cube
def outside(out: Vector[f32]) -> None:
    """Writes behind the end."""
    out[frontend.ABSOLUTE_POS + 100] = 1.0


class StreamSuite(Subject):
    """Launches on streams."""

    def _streams(self, count: int) -> list[Stream]:
        return [self.subject.stream() for _ in range(count)]

    def test_launches_of_a_stream_happen_in_order(self) -> None:
        (stream,), x = self._streams(1), self.subject.array(np.zeros(COUNT, np.int32))
        launch_on, expected = step.over(COUNT).on(stream), 0
        for number in range(50):
            launch_on(x, 3, number)
            expected = expected * 3 + number & 0xFFFF_FFFF
        same(x.numpy(), np.full(COUNT, expected).astype(np.uint32).view(np.int32))

    def test_streams_that_share_memory_are_in_order(self) -> None:
        one, two = self._streams(2)
        x, y = (self.subject.array(np.zeros(COUNT, np.int32)) for _ in range(2))
        first = second = 0
        for number in range(30):
            step.over(COUNT).on(one)(x, 2, number)
            added.over(COUNT).on(two)(x, y)
            step.over(COUNT).on(two)(y, 3, 1)
            added.over(COUNT).on(one)(y, x)
            first = first * 2 + number & 0xFFFF_FFFF
            second = (second + first) * 3 + 1 & 0xFFFF_FFFF
            first = first + second & 0xFFFF_FFFF
        same(x.numpy(), np.full(COUNT, first).astype(np.uint32).view(np.int32))
        same(y.numpy(), np.full(COUNT, second).astype(np.uint32).view(np.int32))

    def test_launches_without_a_stream_are_in_order_with_those_on_one(self) -> None:
        (stream,), x = self._streams(1), self.subject.array(np.zeros(COUNT, np.int32))
        expected = 0
        for number in range(30):
            step.over(COUNT).on(stream)(x, 3, number)
            step.over(COUNT)(x, 5, 1)
            expected = (expected * 3 + number) * 5 + 1 & 0xFFFF_FFFF
        same(x.numpy(), np.full(COUNT, expected).astype(np.uint32).view(np.int32))

    def test_memory_that_is_let_go_is_not_lost_to_launches(self) -> None:
        (stream,), out = self._streams(1), self.subject.array(np.zeros(COUNT, np.int32))
        for number in range(40):
            x = self.subject.array(np.full(COUNT, number, np.int32))
            added.over(COUNT).on(stream)(x, out)
            del x
        same(out.numpy(), np.full(COUNT, 780, np.int32))

    def test_host_arrays_are_ready_when_the_call_returns(self) -> None:
        (stream,) = self._streams(1)
        x, out = np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32)
        added.over(COUNT).on(stream)(x, out)
        same(out, x)

    def test_events_are_reached_in_order_and_tell_the_time(self) -> None:
        (stream,), x = self._streams(1), self.subject.array(np.zeros(COUNT, np.int32))
        step.over(COUNT).on(stream)(x, 1, 1)
        before = stream.record()
        for _ in range(5):
            step.over(COUNT).on(stream)(x, 1, 1)
        after = stream.record()
        after.wait()
        assert before.done
        assert after.done
        assert 0 <= after.since(before) < 60

    def test_a_stream_waits_for_an_event_of_another(self) -> None:
        one, two = self._streams(2)
        x = self.subject.array(np.zeros(COUNT, np.int32))
        step.over(COUNT).on(one)(x, 1, 1)
        event = one.record()
        two.wait(event)
        later = two.record()
        later.wait()
        assert event.done
        two.synchronize()

    def test_what_is_read_back_is_of_its_moment(self) -> None:
        (stream,), x = self._streams(1), self.subject.array(np.zeros(COUNT, np.int32))
        y, nothing = self.subject.array(np.arange(7, dtype=np.int32)), self.subject.empty((0, 3))
        taken = []
        for _ in range(10):
            step.over(COUNT).on(stream)(x, 1, 1)
            taken.append(self.subject.read_back(y, x, nothing))
            step.over(COUNT)(x, 1, 1)
            step.over(COUNT).on(stream)(x, 1, 1)
            taken.append(self.subject.read_back(y, x, nothing, stream=stream))
            step.over(COUNT).on(stream)(x, 0, 3 * len(taken) // 2)
        for number, readback in reversed(list(enumerate(taken))):
            rounds, second = divmod(number, 2)
            first, content, empty = readback.result()
            same(first, np.arange(7, dtype=np.int32))
            same(content, np.full(COUNT, 3 * rounds + 1 + 2 * second, np.int32))
            same(empty, np.empty((0, 3), np.float32))
            assert readback.done

    def test_errors_are_raised_by_who_waits(self) -> None:
        (stream,), x = self._streams(1), self.subject.array(np.zeros(4, np.float32))
        with where_supported():
            try:
                outside.over(4, check="validate").on(stream)(x)
                stream.synchronize()
            except OutOfBoundsError:
                pass
            else:
                raise AssertionError("a write outside was not reported")
        step.over(4).on(stream)(self.subject.array(np.zeros(4, np.int32)), 1, 1)
        stream.synchronize()
