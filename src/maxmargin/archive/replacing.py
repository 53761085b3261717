"""A file that is replaced as a whole or not at all."""

from __future__ import annotations

import os
import platform
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

# Names of unfinished files: host name, process number, and suffix.
HOST, ENDING = f"{zlib.crc32(platform.node().encode()):08x}", ".part"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream whose content becomes the file, at once and only if all went well."""
    target = Path(path)
    beginning = f".{target.name}.{HOST}-"
    remove_abandoned(target.parent, beginning)
    part = target.with_name(f"{beginning}{os.getpid()}-{secrets.token_hex(4)}{ENDING}")
    try:
        with open(part, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError where no file could be written to this place, before work is done for it."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{HOST}-{os.getpid()}-{secrets.token_hex(4)}{ENDING}")
    try:
        part.touch(exist_ok=False)
    except OSError as error:
        reason = f"cannot be written: {error.strerror}"
        raise OSError(error.errno, reason, str(target)) from None
    part.unlink()


def remove_abandoned(folder: Path, beginning: str) -> None:
    """Remove what processes of this machine that are no more have left unfinished."""
    with suppress(OSError):
        for path in folder.iterdir():
            name = path.name
            if name.startswith(beginning) and name.endswith(ENDING):
                number = name[len(beginning) :].partition("-")[0]
                if number.isdigit() and is_gone(int(number)):
                    path.unlink(missing_ok=True)


def is_gone(process: int) -> bool:
    """Whether there is no such process; unknown on systems other than POSIX."""
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def sync_folder(folder: Path) -> None:
    """Make the new name last; folders cannot be synced everywhere."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
