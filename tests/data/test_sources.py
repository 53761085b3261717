"""Streams of the content of files, compressed or not."""

import io

from maxmargin.data.sources import Decompressed


def test_closing_a_decompressed_stream_closes_it_and_the_stream_inside():
    inner = io.BytesIO(b"1,2\n")
    stream = Decompressed(inner, "a.csv.gz", 100)
    assert stream.read() == b"1,2\n"
    stream.close()
    assert inner.closed
    assert stream.closed
