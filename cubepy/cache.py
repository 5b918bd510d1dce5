"""The disk store of compiled code: bytes under a key made of named parts.

A key is the SHA-256 of named parts, each of whose own hashes is kept beside the value, so that a
miss can be explained. Values are published whole, verified by hash when read, dropped least
recently used first, and never believed unless they lie in a folder that only its owner can write. A
store that cannot be used is a store that is empty: one warning is logged and compilation goes on.
What the bytes mean is the caller's business.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from cubepy.config import CacheConfig, current
from cubepy.late import LateLogger, late_import
from cubepy.records import dataclass, field

if TYPE_CHECKING:
    from pathlib import Path

try:  # Python's own, for `hashlib` loads all of OpenSSL
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found] # before Python 3.12
    except ImportError:
        from hashlib import sha256

__all__ = ["DiskStore", "Entry", "Key", "digest_of", "key_of", "store"]

logger = LateLogger("cubepy.cache")

_MAGIC = b"cubepy cache entry 3\n"
_SUFFIX = ".entry"
_FORMAT_FOLDER = "v3"
_LOCK_SECONDS = 120.0  # then somebody died, or works very hard: making it twice does no harm
_STALE_SECONDS = 3600.0
_TOUCH_SECONDS = 60.0
_RESCAN_EVERY = 64
_KEEP_SHARE = 0.8  # what eviction leaves of the permitted size: some room for the next puts


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a value is stored under. `parts` are (name, hash of that part), in order.

    `label` is for people and tells no key from another.
    """

    digest: str
    parts: tuple[tuple[str, str], ...]
    label: str = field(default="", compare=False)

    def differs_from(self, other: Key) -> tuple[str, ...]:
        """The names of the parts that are not the same in both."""
        mine, theirs = dict(self.parts), dict(other.parts)
        names = dict.fromkeys((*mine, *theirs))
        return tuple(name for name in names if mine.get(name) != theirs.get(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A value on disk: its key, its file, the file's size, and when it was last used (seconds)."""

    key: Key
    path: Path
    size: int
    used: float


def key_of(parts: Iterable[tuple[str, bytes]], label: str = "") -> Key:
    """The key of named parts; order, names and bytes all count, and parts never run together."""
    hashed = tuple((name, digest_of(data)) for name, data in parts)
    key = Key(digest=_digest(hashed), parts=hashed, label=label)
    logger.debug("key %s: %s", key.digest, hashed)
    return key


def digest_of(data: bytes) -> str:
    """The SHA-256 of some bytes, as text."""
    digest: str = sha256(data).hexdigest()
    return digest


def _digest(parts: tuple[tuple[str, str], ...]) -> str:
    return digest_of("".join(f"{len(name)} {name} {part} " for name, part in parts).encode())


def store() -> DiskStore:
    """The store that the settings of this process ask for; one that holds nothing if it is off."""
    return _open(current().cache)


@functools.cache
def _open(config: CacheConfig) -> DiskStore:
    if not config.enabled:
        return DiskStore(None, max_bytes=0)
    base = os.path.expanduser(config.folder) if config.folder else _usual_folder()
    return DiskStore(
        os.path.join(os.path.abspath(base), _FORMAT_FOLDER), max_bytes=config.max_bytes
    )


def _usual_folder() -> str:
    system: str = sys.platform
    if system == "linux":  # what platformdirs says too, and importing that takes a while
        given = os.environ.get("XDG_CACHE_HOME", "").strip()
        return os.path.join(given or os.path.expanduser("~/.cache"), "cubepy")
    with late_import:
        import platformdirs  # noqa: PLC0415 - not before the first kernel

    return platformdirs.user_cache_dir("cubepy", appauthor=False)


if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that another thread held
    os.register_at_fork(after_in_child=_open.cache_clear)


class DiskStore:
    """Values in one folder, shared with other processes. No method raises because of the disk."""

    def __init__(self, folder: str | Path | None, *, max_bytes: int) -> None:
        self._folder = None if folder is None else os.fspath(folder)
        self.max_bytes = max_bytes
        self._state = threading.RLock()
        self._checked = False
        self._writable = True
        self._puts = 0
        self._size = 0

    @property
    def folder(self) -> Path | None:
        """Where values lie; None if nothing is kept."""
        return None if self._folder is None else _path(self._folder)

    def get(self, key: Key) -> bytes | None:
        """The value, or None. A damaged file is removed and counts as absent."""
        folder = self._usable()
        if folder is None:
            return None
        path = os.path.join(folder, key.digest + _SUFFIX)
        try:
            content, used = _read_own(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("%s is not used: %s", path, error)
            return None
        data = _data_of(content, key.digest)
        if data is None:
            logger.warning("%s is damaged and is removed", path)
            _remove(path)
            return None
        if abs(time.time() - used) > _TOUCH_SECONDS:
            with contextlib.suppress(OSError):
                os.utime(path)
        return data

    def put(self, key: Key, data: bytes) -> None:
        """Publish a value; other processes see all of it or nothing."""
        folder = self._usable()
        if folder is None or not self._writable:
            return
        content = _join(key, data)
        try:
            _publish(os.path.join(folder, key.digest + _SUFFIX), content)
        except OSError as error:  # read-only or full: what is there can still be read
            self._writable = False
            logger.warning("newly compiled code is not kept: cannot write to %s: %s", folder, error)
            return
        self._account(len(content))

    def get_or_make(self, key: Key, make: Callable[[], bytes]) -> bytes:
        """The value, made and stored if it is not there; of several processes one makes it."""
        data = self.get(key)
        if data is not None:
            return data
        with self.lock(key):
            data = self.get(key)
            if data is None:
                data = make()
                self.put(key, data)
            return data

    @contextlib.contextmanager
    def lock(self, key: Key) -> Iterator[None]:
        """Held by one thread of one process at a time; gives up waiting rather than hang."""
        folder = self._usable()
        if folder is None:
            yield
            return
        with late_import:
            import filelock  # noqa: PLC0415 - a warm start makes nothing, so it locks nothing

        lock = filelock.FileLock(os.path.join(folder, f"{key.digest}.lock"), mode=0o600)
        try:
            lock.acquire(timeout=_LOCK_SECONDS, poll_interval=0.01)
        except (OSError, NotImplementedError, filelock.Timeout) as error:
            logger.debug("going on without the lock of %s: %s", key.digest, error)
        try:
            yield
        finally:
            lock.release()

    def entries(self) -> tuple[Entry, ...]:
        """Everything stored, least recently used first; what cannot be read is left out."""
        found = []
        for path, size, used in self._files(_SUFFIX):
            with contextlib.suppress(OSError):
                header = _read_header(path)
                if header is not None:
                    found.append(Entry(key=header, path=_path(path), size=size, used=used))
        return tuple(sorted(found, key=lambda entry: _age_order(entry.used)))

    def nearest(self, key: Key) -> tuple[Entry, tuple[str, ...]] | None:
        """The entry that shares most parts with `key`, and the names of those that differ."""
        candidates = [(entry, key.differs_from(entry.key)) for entry in self.entries()]
        return min(candidates, key=lambda pair: len(pair[1]), default=None)

    def verify(self) -> tuple[Path, ...]:
        """Read everything; the damaged files, which are removed."""
        damaged = []
        for path, _, _ in self._files(_SUFFIX):
            with contextlib.suppress(OSError):
                stem = os.path.basename(path).removesuffix(_SUFFIX)
                if _data_of(_read_own(path)[0], stem) is None:
                    damaged.append(_path(path))
                    _remove(path)
        return tuple(damaged)

    def prune(self, max_bytes: int | None = None) -> int:
        """Remove values, least recently used first, until they fit; the bytes freed."""
        limit = self.max_bytes if max_bytes is None else max_bytes
        files = sorted(self._files(_SUFFIX), key=lambda file: _age_order(file[2]))
        total, freed = sum(size for _, size, _ in files), 0
        for path, size, _ in files:
            if total - freed <= limit:
                break
            _remove(path)
            _remove(path.removesuffix(_SUFFIX) + ".lock")
            freed += size
        now = time.time()
        for path, _, used in (*self._files(".part"), *self._files(".lock")):
            if abs(now - used) > _STALE_SECONDS:
                _remove(path)
        with self._state:
            self._size = total - freed
        return freed

    def _account(self, added: int) -> None:
        """Keep the size bounded. Others write too, so our own sum is checked now and then."""
        with self._state:
            self._size += added
            self._puts += 1
            crowded = self._size > self.max_bytes or self._puts % _RESCAN_EVERY == 1
        if crowded and sum(size for _, size, _ in self._files(_SUFFIX)) > self.max_bytes:
            self.prune(int(self.max_bytes * _KEEP_SHARE))

    def _files(self, suffix: str) -> list[tuple[str, int, float]]:
        """(path, size, last use) of the files with this suffix."""
        folder = self._usable()
        found: list[tuple[str, int, float]] = []
        if folder is None:
            return found
        with contextlib.suppress(OSError), os.scandir(folder) as scan:
            for item in scan:
                if item.name.endswith(suffix):
                    with contextlib.suppress(OSError):
                        facts = item.stat(follow_symlinks=False)
                        found.append((item.path, facts.st_size, facts.st_mtime))
        return found

    def _usable(self) -> str | None:
        """The folder, made and checked at first use; None if there is none to be trusted."""
        if self._checked or self._folder is None:
            return self._folder
        with self._state:
            if not self._checked:
                reason = _prepare(self._folder)
                self._checked = True
                if reason:
                    self._folder = None
                    logger.warning("compiled code is not kept on disk: %s", reason)
        return self._folder


def _path(name: str) -> Path:
    with late_import:
        from pathlib import Path  # noqa: PLC0415 - imports more than a warm start has time for

    return Path(name)


def _prepare(folder: str) -> str:
    """Make the folder; why it cannot be used, or ""."""
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, mode=0o700)
        facts = os.stat(folder)
    except OSError as error:
        return str(error)
    if not stat.S_ISDIR(facts.st_mode):
        return f"{folder} is not a folder"
    return _distrust(folder, facts, 0o077)


def _distrust(path: str, facts: os.stat_result, forbidden: int) -> str:
    """Why others could have written what lies here, or "": what is read here is run as code."""
    if not hasattr(os, "geteuid"):
        return ""
    if facts.st_uid != os.geteuid():
        return f"{path} belongs to another user"
    if facts.st_mode & forbidden:
        return f"{path} is open to other users; fix it with chmod go-rwx"
    return ""


def _age_order(used: float) -> float:
    """Sorts by last use. One in the future is of before the clock was set back: long ago."""
    return used if used <= time.time() + _TOUCH_SECONDS else 0.0


def _read_own(path: str) -> tuple[bytes, float]:
    """Content and time of last use of a file that only its owner can write."""
    with open(path, "rb") as file:
        facts = os.fstat(file.fileno())
        reason = _distrust(path, facts, 0o022)
        if reason:
            raise PermissionError(reason)
        return file.read(), facts.st_mtime


def _publish(path: str, content: bytes) -> None:
    with late_import:
        import tempfile  # noqa: PLC0415 - a warm start writes nothing

    handle, part = tempfile.mkstemp(suffix=".part", dir=os.path.dirname(path))  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(part, path)
    except BaseException:
        _remove(part)
        raise


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _join(key: Key, data: bytes) -> bytes:
    """A file: what it is, the digest of its key and that of the rest; then what people may ask."""
    with late_import:
        import json  # noqa: PLC0415 - a warm start writes nothing

    header = json.dumps({"label": key.label, "parts": key.parts}).encode()
    rest = header + b"\n" + data
    return _MAGIC + f"{key.digest} {digest_of(rest)}\n".encode() + rest


def _data_of(content: bytes, digest: str) -> bytes | None:
    """The value in a file of the key with this digest, None if the file is not whole."""
    first, _, rest = content.removeprefix(_MAGIC).partition(b"\n")
    if not content.startswith(_MAGIC) or first != f"{digest} {digest_of(rest)}".encode():
        return None
    return rest.partition(b"\n")[2]


def _read_header(path: str) -> Key | None:
    with late_import:
        import json  # noqa: PLC0415 - for those who look into the store

    with open(path, "rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return None
        file.readline()
        line = file.readline()
    try:
        header = json.loads(line)
        parts = tuple((str(name), str(part)) for name, part in header["parts"])
        return Key(digest=_digest(parts), parts=parts, label=str(header["label"]))
    except (ValueError, TypeError, KeyError):
        return None
