"""The engine of the lab's page, packed: ``python tools/packed_engine.py ENGINE.wasm ENGINE.wasm.lzma``.

Custom sections, such as names of functions, are left out. LZMA takes a fifth less than gzip; ``viewer/src/lab/lzma.ts``
unpacks it.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

MAGIC = 8
"""Bytes before the first section."""
CUSTOM = 0
FILTER = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}
"""Code of WebAssembly has no words of four bytes: positions say nothing, the byte before says much."""


def sections(module: bytes) -> Iterator[bytes]:
    """Yield the sections of a module with their heads, but for custom ones."""
    at = MAGIC
    while at < len(module):
        length, shift, start = 0, 0, at + 1
        while True:
            byte = module[start]
            start += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if module[at] != CUSTOM:
            yield module[at : start + length]
        at = start + length


def packed(module: bytes) -> bytes:
    """Return the module in the format ``.lzma``, whose head says its length."""
    bare = module[:MAGIC] + b"".join(sections(module))
    found = lzma.compress(bare, format=lzma.FORMAT_ALONE, filters=[FILTER])
    return found[:5] + len(bare).to_bytes(8, "little") + found[13:]


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(packed(Path(sys.argv[1]).read_bytes()))
