"""Arguments of launches, known again without being kept."""

import gc

import numpy as np

from cubepy.runtime import Known, device


def test_the_very_same_arguments_are_known_again() -> None:
    buffer = device("cpu").array(np.arange(4))
    known = Known((buffer, 1.5, "text"))
    assert Known(()).are(())
    assert known.are((buffer, *known._others))
    assert not known.are((buffer, 1.5))
    assert not known.are((device("cpu").array(np.arange(4)), *known._others))


def test_a_buffer_that_is_gone_is_never_known_again() -> None:
    for _ in range(100):  # objects come to lie where others were
        memories = [object()]
        known = Known((device("cpu").array(np.arange(4)),), memories)
        gc.collect()
        assert memories == []
        assert not known.are((device("cpu").array(np.arange(4)),))


def test_knowing_keeps_numbers_and_no_buffer() -> None:
    machine = device("cpu")
    before = machine.memory_stats().in_use
    known = [Known((machine.array(np.arange(1000)), 2.5 * n)) for n in range(10)]
    gc.collect()
    assert machine.memory_stats().in_use == before
    assert [each._others for each in known] == [[2.5 * n] for n in range(10)]
