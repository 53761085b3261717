"""Downloads: plain HTTP(S), with a time limit, retries and progress, and OpenML by scikit-learn."""

from __future__ import annotations

import io
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..sources import COMPRESSED, DataError


class Limits(NamedTuple):
    """Limits of a download."""

    # Attempts, and seconds before the second one, twice as long before each further one.
    attempts: int = 3
    pause: float = 1.0
    # Seconds without an answer of the server, and bytes read at a time.
    time_limit: float = 60.0
    chunk: int = 1 << 18
    # No public set here is larger; a server that sends more sends something else.
    largest: int = 1 << 29


LIMITS = Limits()


Progress = Callable[[float | None], None]


def _silent(done: float | None) -> None:
    del done


@dataclass(frozen=True)
class Web:
    """Where downloads come from.

    Parameters
    ----------
    mirror : str or None
        Address of a server that keeps copies under ``<mirror>/<host>/<path>``.
    openml_cache : Path or None
        Folder in which scikit-learn keeps what it gets from OpenML.
    progress : callable
        Called with the part that has arrived, None where the server does not say the length.
    """

    mirror: str | None = None
    openml_cache: Path | None = None
    progress: Progress = _silent

    def address(self, url: str) -> str:
        if self.mirror is None:
            return url
        parts = urllib.parse.urlsplit(url)
        return f"{self.mirror.rstrip('/')}/{parts.netloc}{parts.path}"

    def raw(self, url: str) -> bytes:
        """The bytes at an address."""
        address = self.address(url)
        for attempt in range(LIMITS.attempts):
            try:
                return self._download(address)
            except urllib.error.HTTPError as error:
                if error.code < 500:
                    raise _failure(address, f"the server answers {error.code}") from None
                reason = f"the server answers {error.code}"
            except (urllib.error.URLError, TimeoutError, socket.gaierror, ConnectionError) as error:
                reason = str(getattr(error, "reason", error))
            if attempt + 1 < LIMITS.attempts:
                time.sleep(LIMITS.pause * 2**attempt)
        raise _failure(address, reason)

    def content(self, url: str) -> bytes:
        """The bytes at an address, decompressed where they are compressed by gzip, bzip2 or xz."""
        found = self.raw(url)
        for magic, opener in COMPRESSED.items():
            if found.startswith(magic):
                try:
                    with opener(io.BytesIO(found)) as stream:
                        return bytes(stream.read())
                except (EOFError, OSError, ValueError) as error:
                    raise _failure(self.address(url), f"damaged file: {error}") from None
        return found

    def openml(self, data_id: int) -> Any:
        """A data set of OpenML: data, target and feature_names, as scikit-learn returns them."""
        from sklearn.datasets import fetch_openml

        cache = None if self.openml_cache is None else str(self.openml_cache)
        try:
            return fetch_openml(
                data_id=data_id, as_frame=False, parser="liac-arff", data_home=cache
            )
        except (OSError, ValueError) as error:
            raise _failure(f"OpenML data set {data_id}", str(error)) from None

    def _download(self, address: str) -> bytes:
        request = urllib.request.Request(address, headers={"User-Agent": "maxmargin"})
        with urllib.request.urlopen(request, timeout=LIMITS.time_limit) as stream:
            length = int(stream.headers.get("Content-Length") or 0)
            parts, size = [], 0
            while part := stream.read(LIMITS.chunk):
                parts.append(part)
                size += len(part)
                if size > LIMITS.largest:
                    raise _failure(address, f"the file is larger than {LIMITS.largest >> 20} MB")
                self.progress(size / length if length else None)
        if length and size != length:
            raise ConnectionError(f"only {size} of {length} bytes arrived")
        return b"".join(parts)


def _failure(address: str, reason: str) -> DataError:
    return DataError(
        f"{address} cannot be fetched: {reason}; check the network or the proxy "
        "(HTTPS_PROXY), or name a server with copies by --mirror"
    )
