"""The disk store: keys, faults of the disk, trust, eviction, and many processes at once."""

import errno
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cubepy import cache, config
from cubepy.cache import DiskStore, Key, key_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def disk(tmp_path: Path) -> DiskStore:
    return DiskStore(tmp_path / "store", max_bytes=1 << 20)


def key(name: str = "k") -> Key:
    return key_of([("ir", name.encode()), ("target", b"cpu")])


def file_of(disk: DiskStore, wanted: Key) -> Path:
    (entry,) = (entry for entry in disk.entries() if entry.key == wanted)
    return entry.path


def test_what_is_put_is_got(disk: DiskStore) -> None:
    assert disk.get(key()) is None
    for data in (b"", b"\n", os.urandom(100_000)):
        disk.put(key(), data)
        assert disk.get(key()) == data
    assert DiskStore(disk.folder, max_bytes=1 << 20).get(key()) == data


def test_keys_keep_names_order_and_borders_of_parts_apart() -> None:
    variants = [
        [("a", b"xy"), ("b", b"")],
        [("a", b"x"), ("b", b"y")],
        [("b", b"x"), ("a", b"y")],
        [("a", b"x"), ("c", b"y")],
        [("a", b"x")],
        [("a", b""), ("x", b"")],
        [("ax", b"")],
        [],
    ]
    assert len({key_of(parts).digest for parts in variants}) == len(variants)


def test_key_is_the_same_in_another_process_with_another_hash_seed() -> None:
    code = (
        "from cubepy.cache import key_of; print(key_of([('ir', b'k'), ('target', b'cpu')]).digest)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "77"}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == key().digest


def test_a_miss_is_explained_by_the_part_that_differs(disk: DiskStore) -> None:
    assert disk.nearest(key()) is None
    disk.put(key_of([("ir", b"one"), ("target", b"cpu"), ("options", b"")]), b"1")
    disk.put(key_of([("ir", b"two"), ("target", b"ptx"), ("options", b"")]), b"2")
    near = disk.nearest(key_of([("ir", b"one"), ("target", b"wgsl"), ("options", b"")]))
    assert near is not None
    assert near[1] == ("target",)
    assert disk.get(near[0].key) == b"1"


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content[:10],
        lambda content: b"",
        lambda content: content + b"x",
        lambda content: content[:-3] + bytes([content[-3] ^ 1]) + content[-2:],
        lambda content: content.replace(b"parts", b"party"),
        lambda content: content.replace(b'"ir"', b'"ri"'),
        lambda content: b"\xff" * len(content),
    ],
    ids=["short", "head only", "empty", "long", "bit flip", "header", "other key", "rubbish"],
)
def test_damaged_files_are_removed_and_made_again(disk: DiskStore, damage, caplog) -> None:  # type: ignore[no-untyped-def]
    disk.put(key(), b"machine code")
    path = file_of(disk, key())
    path.write_bytes(damage(path.read_bytes()))
    assert disk.get(key()) is None
    assert not path.exists()
    assert "damaged" in caplog.text
    assert disk.get_or_make(key(), lambda: b"again") == b"again"
    assert disk.get(key()) == b"again"


def test_verify_finds_what_is_damaged(disk: DiskStore) -> None:
    disk.put(key("a"), b"good")
    disk.put(key("b"), b"bad!")
    path = file_of(disk, key("b"))
    path.write_bytes(path.read_bytes()[:-1])
    assert disk.verify() == (path,)
    assert [entry.key for entry in disk.entries()] == [key("a")]


def test_folder_is_made_for_its_owner_only(disk: DiskStore) -> None:
    disk.put(key(), b"x")
    assert disk.folder is not None
    assert disk.folder.stat().st_mode & 0o777 == 0o700
    assert file_of(disk, key()).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o755])
def test_folder_open_to_others_is_refused(disk: DiskStore, mode: int, caplog) -> None:  # type: ignore[no-untyped-def]
    disk.put(key(), b"planted")
    assert disk.folder is not None
    disk.folder.chmod(mode)
    refused = DiskStore(disk.folder, max_bytes=1 << 20)
    assert refused.get(key()) is None
    assert refused.get_or_make(key(), lambda: b"own") == b"own"
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "chmod" in caplog.text


def test_folder_of_another_user_is_refused(disk: DiskStore, monkeypatch, caplog) -> None:  # type: ignore[no-untyped-def]
    disk.put(key(), b"planted")
    monkeypatch.setattr(os, "geteuid", lambda: 123456)
    refused = DiskStore(disk.folder, max_bytes=1 << 20)
    assert refused.get(key()) is None
    assert "another user" in caplog.text


def test_file_that_others_may_write_is_not_believed(disk: DiskStore) -> None:
    disk.put(key(), b"planted")
    file_of(disk, key()).chmod(0o666)
    assert disk.get(key()) is None


def test_folder_that_cannot_be_made_turns_the_store_off_with_one_warning(tmp_path, caplog) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "file").write_text("in the way")
    disk = DiskStore(tmp_path / "file" / "store", max_bytes=1 << 20)
    for _ in range(3):
        assert disk.get_or_make(key(), lambda: b"made") == b"made"
    assert disk.entries() == ()
    assert len(caplog.records) == 1


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_full_or_read_only_disk_still_serves_what_it_has(disk, error, monkeypatch, caplog) -> None:  # type: ignore[no-untyped-def]
    disk.put(key("old"), b"old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "replace", refuse)
    for _ in range(3):
        assert disk.get_or_make(key("new"), lambda: b"new") == b"new"
    assert disk.get(key("old")) == b"old"
    assert len(caplog.records) == 1
    assert not list(disk.folder.glob("*.part"))


def test_least_recently_used_values_go_first(tmp_path: Path) -> None:
    disk = DiskStore(tmp_path / "store", max_bytes=10_000)
    now = time.time()
    for number in range(8):
        disk.put(key(str(number)), bytes(900))
        os.utime(file_of(disk, key(str(number))), (now - 1000 + number, now - 1000 + number))
    assert disk.get(key("0")) is not None  # used: now the youngest
    disk.put(key("large"), bytes(3000))
    kept = {entry.key for entry in disk.entries()}
    assert key("large") in kept
    assert key("0") in kept
    assert key("1") not in kept
    assert sum(entry.size for entry in disk.entries()) <= 10_000


def test_prune_leaves_no_rubbish(disk: DiskStore) -> None:
    disk.get_or_make(key(), lambda: b"x" * 100)
    assert disk.folder is not None
    stale = disk.folder / "left-by-a-crash.part"
    stale.write_bytes(b"x")
    os.utime(stale, (1, 1))
    assert disk.prune(0) > 100
    assert [path.name for path in disk.folder.iterdir() if path.suffix != ".lock"] == []


def test_failed_make_leaves_nothing_and_releases_the_lock(disk: DiskStore) -> None:
    def fail() -> bytes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        disk.get_or_make(key(), fail)
    assert disk.entries() == ()
    assert disk.get_or_make(key(), lambda: b"fine") == b"fine"


def test_of_many_threads_one_makes(disk: DiskStore) -> None:
    made: list[int] = []

    def make() -> bytes:
        made.append(threading.get_ident())
        time.sleep(0.05)
        return b"value"

    results: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: results.append(disk.get_or_make(key(), make)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [b"value"] * 8
    assert len(made) == 1


_WORKER = """
import sys, time
from pathlib import Path
from cubepy.cache import DiskStore, key_of
disk = DiskStore(Path(sys.argv[1]) / "store", max_bytes=1 << 20)
for number in range(6):
    def make():
        with open(Path(sys.argv[1]) / "made.txt", "a") as log:
            log.write(f"{number}\\n")
        time.sleep(0.01)
        return bytes([number]) * 5000
    assert disk.get_or_make(key_of([("n", bytes([number]))]), make) == bytes([number]) * 5000
"""


def test_of_many_processes_one_makes(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _WORKER, str(tmp_path)]
    processes = [subprocess.Popen(command, env=environment) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert sorted((tmp_path / "made.txt").read_text().split()) == list("012345")


def settings(monkeypatch: pytest.MonkeyPatch, **variables: str) -> DiskStore:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    cache._open.cache_clear()
    monkeypatch.setattr(cache, "current", lambda: config.load(Path("/"), os.environ))
    return cache.store()


def test_settings_name_the_folder_spaces_and_unicode_too(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "a folder für 内核 ' \" $x"
    disk = settings(monkeypatch, CUBEPY_CACHE_DIR=str(folder))
    disk.put(key(), b"x")
    assert disk.get(key()) == b"x"
    assert list(folder.rglob("*.entry"))
    assert cache.store() is disk


def test_folder_named_by_the_user_may_be_open_as_long_as_ours_in_it_is_not(tmp_path, monkeypatch):  # type: ignore[no-untyped-def]
    tmp_path.chmod(0o755)
    disk = settings(monkeypatch, CUBEPY_CACHE_DIR=str(tmp_path))
    disk.put(key(), b"x")
    assert disk.get(key()) == b"x"


def test_default_folder_is_the_users_cache_folder(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    disk = settings(monkeypatch, XDG_CACHE_HOME=str(tmp_path), CUBEPY_CACHE_DIR="")
    disk.put(key(), b"x")
    assert list((tmp_path / "cubepy").rglob("*.entry"))


def test_store_can_be_turned_off(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    disk = settings(monkeypatch, CUBEPY_CACHE="0", CUBEPY_CACHE_DIR=str(tmp_path / "never"))
    disk.put(key(), b"x")
    assert disk.get(key()) is None
    assert disk.get_or_make(key(), lambda: b"y") == b"y"
    assert not (tmp_path / "never").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs is asked itself")
@pytest.mark.parametrize("home", ["", "  ", "/somewhere/else"])
def test_the_users_cache_folder_is_that_of_platformdirs(home: str, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    expected = platformdirs.user_cache_dir("cubepy", appauthor=False)
    assert str(cache._usual_folder()) == expected
