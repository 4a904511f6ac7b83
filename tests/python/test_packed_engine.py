"""The packed engine of the lab's page: ``viewer/tests/lzma.test.ts`` unpacks bytes of the same kind."""

from __future__ import annotations

import lzma

from tools import packed_engine

HEAD = b"\0asm\1\0\0\0"
CODE = bytes([10, 0x83, 0x01]) + bytes(range(131))
"""A section of 131 bytes, whose length takes two."""
NAMES = bytes([0, 5]) + b"names"


def test_a_packed_engine_lacks_custom_sections_alone() -> None:
    packed = packed_engine.packed(HEAD + NAMES + CODE + NAMES)
    assert lzma.decompress(packed) == HEAD + CODE
    assert int.from_bytes(packed[5:13], "little") == len(HEAD + CODE)
