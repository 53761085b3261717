"""The disk cache of compiled code, with a fallback directory and checksums.

Numba keeps compiled code beside the source, in the user's cache directory or in
``NUMBA_CACHE_DIR``. If none of these is writable, a private temporary directory is used, and if
there is none either, each process compiles for itself; one line on stderr says so. Entries that are
damaged, truncated or belong to other code are compiled again and overwritten: every entry has a
checksum of its content and of its source.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
from functools import cache
from typing import Any

from numba import config
from numba.core.caching import FunctionCache, NullCache
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from .. import __version__
from .second_process import Parts, second_process
from .separate import provide, required_by

ADVICE = "set NUMBA_CACHE_DIR to a directory that can be written"


class CodeCache:
    """The cache of one function, opened when it is first needed; see `numba.core.caching`.

    `options` are those of the compiler. `parts` lists the functions, given the types of the
    arguments, that a second process compiles while this one is compiled.
    """

    def __init__(self, function: Any, options: str, parts: Parts | None = None) -> None:
        self._function, self._options, self._parts = function, options, parts
        self._opened: Any = None

    def _cache(self) -> Any:
        if self._opened is None:
            self._opened = opened(self._function, self._options)
        return self._opened

    @property
    def cache_path(self) -> str | None:
        path: str | None = self._cache().cache_path
        return path

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function, or None if it has to be compiled (again)."""
        try:
            found = self._cache().load_overload(signature, target_context)
            if found is None and second_process.wait_for(self._function):
                found = self._cache().load_overload(signature, target_context)
            if found is None and self._parts is not None and self.cache_path is not None:
                second_process.compile(self._parts(signature))
            return found
        except Exception:
            # Files left by another process, a full disk or a crash may fail to load in any way.
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        try:
            try:
                self._cache().save_overload(signature, result)
            except OSError:
                raise
            except Exception:  # the index is damaged
                self._cache().flush()
                self._cache().save_overload(signature, result)
        except OSError as error:
            tell_once(f"compiled code cannot be saved ({error}); {ADVICE}")
            self._opened = NullCache()

    def enable(self) -> None:
        self._cache().enable()

    def disable(self) -> None:
        self._cache().disable()

    def flush(self) -> None:
        self._cache().flush()


class CheckedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache with a checksum for each entry.

    Numba writes an index, then the code, and numbers the files: a process that is killed in
    between, or two that save different signatures at the same time, leave an index that points to
    the code of another signature or of an earlier version. The checksum covers both.
    """

    def __init__(self, function: Any, options: str) -> None:
        super().__init__(function)
        self._options = options

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # The same function may be compiled with a wrapper for Python and without.
        return (*super()._index_key(sig, codegen), self._options)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As Numba's, but without its registries, whose functions are not called by their types
        here: filling them takes as long as the first fit of thousands of samples."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        key = self._index_key(sig, target_context.codegen())
        entry = self._cache_file.load(key)
        if entry is None:
            return None
        checksum, code = entry
        if checksum != self._checksum(key, code):
            return None
        required, reduced = pickle.loads(code)
        for symbol, place in required.items():
            provide(symbol, place)
        return self._impl.rebuild(target_context, reduced)

    def _save_overload(self, sig: Any, data: Any) -> None:
        if not self._impl.check_cachable(data):
            return
        self._impl.locator.ensure_cache_path()
        key = self._index_key(sig, data.codegen)
        code = dumps((required_by(data.library), self._impl.reduce(data)))
        self._cache_file.save(key, (self._checksum(key, code), code))

    def _checksum(self, key: Any, code: bytes) -> bytes:
        # The version, because functions of other files may have been inlined into this one.
        origin = repr((__version__, self._impl.locator.get_source_stamp(), key))
        return hashlib.sha256(origin.encode() + code).digest()


def opened(function: Any, options: str) -> Any:
    """The cache of a function, in the first writable place."""
    try:
        return CheckedCache(function, options)
    except (RuntimeError, OSError):
        directory = temporary_directory()
    if directory is None:
        tell_once(f"no place for compiled code, so each process compiles it again; {ADVICE}")
        return NullCache()
    before, config.CACHE_DIR = config.CACHE_DIR, directory
    try:
        cache = CheckedCache(function, options)
    except (RuntimeError, OSError) as error:
        tell_once(f"compiled code cannot be saved ({error}); {ADVICE}")
        return NullCache()
    finally:
        config.CACHE_DIR = before
    tell_once(f"compiled code is kept in {directory}; {ADVICE}")
    return cache


@cache
def temporary_directory() -> str | None:
    """A private directory of this user; the same one next time if possible."""
    try:
        user = os.geteuid() if hasattr(os, "geteuid") else os.getpid()
        path = os.path.join(tempfile.gettempdir(), f"maxmargin-{user}")
        os.makedirs(path, mode=0o700, exist_ok=True)
        if is_private(path):
            return path
        path = tempfile.mkdtemp(prefix="maxmargin-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def is_private(path: str) -> bool:
    """Whether a directory belongs to this user and nobody else can write to it: code loaded from it
    is executed."""
    found = os.lstat(path)
    if not hasattr(os, "geteuid"):
        return stat.S_ISDIR(found.st_mode)
    others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not others_write


_told = False


def tell_once(what: str) -> None:
    """One line on stderr, the first time in this process."""
    global _told
    if not _told:
        print(f"maxmargin: {what}", file=sys.stderr)
    _told = True
