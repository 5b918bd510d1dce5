"""What every test shares: a cache of its own, how hard hypothesis tries, and quick collections.

No test reads or writes the user's own cache. `HYPOTHESIS_PROFILE=thorough` looks for ten times as
many examples; in continuous integration the examples are the same in every run.
"""

import gc
import os
from collections.abc import Iterator

import hypothesis
import pytest

#: Folders and files whose tests take longest, in the order to run them.
DEAREST = ("tests/property/", "tests/conformance/", "tests/unit/test_compile_time.py")

#: How long anything takes is for the machine to say.
UNTIMED = hypothesis.settings(
    deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("default", UNTIMED)
hypothesis.settings.register_profile("ci", UNTIMED, derandomize=True, print_blob=True)
hypothesis.settings.register_profile("thorough", UNTIMED, max_examples=1000)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes down what is found, to be read before it is committed."""
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the expected texts of tests/errors"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The dearest first: when a worker waits for another one's last test, that is a short one."""
    items.sort(key=lambda item: _rank(item.nodeid))


def _rank(nodeid: str) -> int:
    ranks = (rank for rank, start in enumerate(DEAREST) if nodeid.startswith(start))
    return next(ranks, len(DEAREST))


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Point everything that asks for the user's cache folder at one that dies with the session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module", autouse=True)
def known_alive() -> None:
    """What lives before a file's tests stays, so that looking for garbage need not walk it again.

    A process that has seen all of the tests takes half a second to walk through what it holds.
    """
    gc.collect()
    gc.freeze()
