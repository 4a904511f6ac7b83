"""Files that others made: what is read of them has a bound, and comes to an end.

A folder that somebody sends may hold anything under the names that are read: a link to a device that has no end, a pipe
that nobody writes to, a file larger than memory, JSON of 200,000 brackets, a table of some bytes that unpacks to more
than all memory. Every function here raises ``OSError``, or ``ValueError`` that says what is wrong with the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import select
import stat
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from incast import footers
from incast.errors import FolderError
from incast.memory import free_memory, spoken

if TYPE_CHECKING:
    # Arrow takes long to load: only what reads or writes tables waits for it.
    import pyarrow as pa
    import pyarrow.parquet as pq

RUN_FILE = "manifest.json"
"""File that makes a folder that of a run."""
STORE_FILE = "store.json"
"""File that makes a folder a store of studies."""
MOST_JSON = 256 << 20
"""Bytes of a JSON file: a timeline of a million ports has some hundred MB."""
MOST_TOML = 64 << 20
"""Bytes of a study, a paper or a scenario that a run leaves, as of a scenario from the standard input."""
MOST_DEPTH = 64
"""Levels of tables and lists: no file of the program has ten."""
SMALL = 32 << 20
"""Bytes for which there is room, or ``MemoryError`` says that there is none: to look takes as long as a small table."""
WORK = 2.0
"""Memory that a table takes while it is read, in sizes of its columns: what is computed from them is beside them."""
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
"""Bytes of a value of a column by its type in Parquet; texts have codes of ``CODE`` bytes."""
CODE = 4
PATIENCE_MS = 500
"""How long a pipe that is opened waits for somebody who writes to it."""
LONGEST = 300
"""Letters that are told of an error: some have a whole line of the file in them."""
KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def told(error: BaseException) -> str:
    """Say in one line what is wrong, of an error that a function here raises."""
    words = " ".join((getattr(error, "strerror", None) or str(error)).split())
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}..."


def kind_of(mode: int) -> str:
    """Name what a path leads to by its mode, as ``os.stat`` tells it; nothing for a plain file."""
    return next((name for is_it, name in KINDS if is_it(mode)), "")


@contextmanager
def opened(path: Path, pipes: bool = False) -> Iterator[BinaryIO]:
    """Open a plain file; with ``pipes`` also a pipe or a device, which a user may name (``<(...)``, /dev/stdin).

    Raises ``ValueError`` where anything else is. A pipe that nobody writes to reads as empty, after ``PATIENCE_MS``.
    """
    # before it is opened: that waits for whoever writes to a pipe, and does something to a device
    _refuse_other(path.stat().st_mode, pipes)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with open(descriptor, "rb") as file:  # noqa: PTH123
        _refuse_other(mode := os.fstat(descriptor).st_mode, pipes)
        if stat.S_ISFIFO(mode):
            # whoever writes is let in by the opening; nothing is to be read, and no end seen, before that
            there = select.poll()
            there.register(descriptor, select.POLLIN)
            there.poll(PATIENCE_MS)
        os.set_blocking(descriptor, True)
        yield file


def _refuse_other(mode: int, pipes: bool) -> None:
    kind = kind_of(mode)
    if kind and not (pipes and (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode))):
        raise ValueError(f"is {kind}; expected a plain file")


def read_bytes(path: Path, most: float = math.inf, pipes: bool = False) -> bytes:
    """Read a file of at most so many bytes, and of no more than memory has room for."""
    with opened(path, pipes) as file:
        size = os.fstat(file.fileno()).st_size
        if size > SMALL or size == 0:  # also of a pipe
            most = min(most, free_memory() / WORK)
        parts: list[bytes] = []
        there = 0
        while there <= most:
            _refuse_large(size, most)
            part = file.read(min(1 << 30, max(size - there, 0) + (1 << 16)))
            if not part:
                return b"".join(parts) if len(parts) != 1 else parts[0]
            parts.append(part)
            there += len(part)
        _refuse_large(there, most)
    raise AssertionError("what is larger is refused")


def _refuse_large(size: float, most: float) -> None:
    if size > most:
        raise ValueError(f"has {spoken(size)} or more; expected at most {spoken(most)}")


def read_text(path: Path, most: float = MOST_TOML, pipes: bool = False) -> str:
    """Read a text file (UTF-8) of at most so many bytes; ``UnicodeDecodeError`` is a ``ValueError``."""
    return read_bytes(path, most, pipes).decode("utf-8")


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json_of(read_text(path, MOST_JSON))


def json_of(text: str | bytes, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Read JSON; raises ``ValueError`` also of what is nested too deeply."""
    try:
        value = json.loads(text, parse_constant=parse_constant)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    return _shallow(value)


def read_toml(path: Path, pipes: bool = False) -> dict[str, Any]:
    """Read a TOML file."""
    return toml_of(read_text(path, MOST_TOML, pipes))


def toml_of(text: str) -> dict[str, Any]:
    """Read TOML; raises ``ValueError`` also of what is nested too deeply."""
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    _shallow(value)
    return value


TOO_DEEP = f"tables and lists are nested too deeply; expected at most {MOST_DEPTH} levels"


def _shallow(value: Any) -> Any:
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        inner = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list)))
        level = [one for values in inner for one in values if isinstance(one, (dict, list))]
        if not level:
            return value
    raise ValueError(TOO_DEEP)


UNFORESEEN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What Python, numpy and Arrow raise of files that contradict each other, beyond what is checked."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Read a folder in this block: where its files contradict each other, ``FolderError`` says what came of it.

    What each file has is checked as it is read. What several say together (numbers of rows, names that others name)
    is found out by whoever uses it. What is drawn or written belongs behind such a block. The mistake may also be the
    program's own: the error has the first one as its cause.
    """
    try:
        yield
    except UNFORESEEN as error:
        raise FolderError(
            f"{folder} cannot be read: {type(error).__name__}: {told(error)}; if it is as incast wrote it, please "
            "report this"
        ) from error


def digest_of(path: Path) -> str:
    """Compute the SHA-256 of a plain file."""
    with opened(path) as file:
        return hashlib.file_digest(cast("io.BufferedReader", file), "sha256").hexdigest()


# Tables


def read_table(
    source: Path | bytes,
    columns: Sequence[str] | None = None,
    *,
    threads: bool = True,
    checksums: bool = False,
) -> pa.Table:
    """Read columns of a Parquet file, or of its bytes; raises ``ValueError`` where they unpack to more than is free.

    How large they are is known before they are read: a page of equal values has some bytes, whatever their number.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    told: dict[str, Any] = {"page_checksum_verification": checksums}
    with _parquet(source) as place, pq.ParquetFile(place, **told) as file:
        whole = file.schema_arrow
        wanted = list(whole.names if columns is None else dict.fromkeys(columns))
        if lacking := sorted({*wanted} - {*whole.names}):
            raise ValueError(f"it has no column {', '.join(lacking)}")
        schema = pa.schema([whole.field(name) for name in wanted], whole.metadata)
        size, texts = unpacked(source, schema)
        _refuse_above_memory(size)
        if not texts:
            return file.read(wanted, use_threads=threads)
    # each text once, and codes: how long the rows are is known before they are written out
    with _parquet(source) as place, pq.ParquetFile(place, read_dictionary=texts, **told) as file:
        if not any("." in path for path in texts) or file.num_row_groups == 0:
            return _written_out(file.read(wanted, use_threads=threads), schema)
        # lists of codes are read group by group alone
        groups = (file.read_row_group(number, wanted, use_threads=threads) for number in range(file.num_row_groups))
        return _written_out(pa.concat_tables(groups), schema)


def read_schema(source: Path | bytes) -> pa.Schema:
    """Read which columns a Parquet file has, with what is said of each."""
    import pyarrow.parquet as pq

    with _parquet(source) as place, pq.ParquetFile(place) as file:
        return file.schema_arrow


def read_footer(source: Path | bytes) -> pq.FileMetaData:
    """Read the end of a Parquet file, which a file that was cut short lacks, and none of its rows."""
    import pyarrow.parquet as pq

    with _parquet(source) as place, pq.ParquetFile(place) as file:
        return file.metadata


@contextmanager
def _parquet(source: Path | bytes) -> Iterator[Any]:
    """Give what Arrow reads a Parquet file from, and turn what it says of a damaged one into ``ValueError``."""
    import pyarrow as pa

    try:
        if isinstance(source, bytes):
            yield pa.BufferReader(source)
        else:
            _refuse_other(source.stat().st_mode, pipes=False)
            yield source
    except (KeyError, TypeError, IndexError, NotImplementedError) as error:
        # Arrow's errors are of these classes too
        told = error.args[0] if error.args else error
        raise ValueError(told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)) from None
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow's own, of a page or the end of a file
        raise ValueError(str(error)) from None


def _footer(source: Path | bytes) -> bytes:
    """Read a Parquet file from its footer on."""
    if isinstance(source, bytes):
        return source[-footers.size_of(source[-8:], len(source)) :]
    with opened(source) as file:
        there = file.seek(0, os.SEEK_END)
        file.seek(max(there - 8, 0))
        size = footers.size_of(file.read(8), there)
        file.seek(there - size)
        return file.read(size)


def unpacked(source: Path | bytes, schema: pa.Schema) -> tuple[int, list[str]]:
    """Say how many bytes columns of a Parquet file take in memory, by its end alone; a text counts as a code.

    Beside it the paths of columns of texts. Raises ``ValueError`` of types that no table of the program has.
    """
    import pyarrow as pa

    inner = {}
    for field in schema:
        kind = inner[field.name] = field.type.value_type if pa.types.is_list(field.type) else field.type
        if pa.types.is_nested(kind):
            raise ValueError(
                f"column {field.name} is of type {field.type}; expected numbers or texts, or lists of them"
            )
    size = 0
    texts: dict[str, None] = {}
    for chunk in footers.chunks(_footer(source)):
        name = chunk.path.partition(".")[0]
        if name in inner:
            size += max(chunk.bytes, chunk.values * WIDTHS.get(chunk.kind, CODE))
            if chunk.kind == "BYTE_ARRAY" and not pa.types.is_dictionary(inner[name]):
                texts[chunk.path] = None
    return size, list(texts)


def _refuse_above_memory(size: float) -> None:
    needed = WORK * size
    if needed > SMALL and needed > (free := free_memory()):
        raise ValueError(
            f"it unpacks to {spoken(size)}, which takes about {spoken(needed)} of memory, and {spoken(free)} is free"
        )


def _written_out(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Write out texts that were read as codes; raises ``ValueError`` where they do not fit memory."""
    import pyarrow as pa

    coded = [field for field in schema if table[field.name].type != field.type]
    _refuse_above_memory(sum(_length(chunk) for field in coded for chunk in table[field.name].chunks))
    return pa.table([table[field.name].cast(field.type) for field in schema], schema=schema)


def _length(chunk: pa.Array) -> int:
    """Count the bytes of texts that are codes, or of lists of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(chunk.type):
        chunk = chunk.flatten()
    lengths = pc.binary_length(chunk.dictionary).cast(pa.int64())
    counts = pc.value_counts(chunk.indices.drop_null())
    return pc.sum(pc.multiply(lengths.take(counts.field("values")), counts.field("counts"))).as_py() or 0


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are texts."""
    import pyarrow as pa

    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(own) or pa.types.is_large_string(own))


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a type are numbers, or say yes or no."""
    import pyarrow as pa

    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(own) for test in tests)


def is_list_of(inner: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Say whether values of a type are lists of such."""

    def is_it(kind: pa.DataType) -> bool:
        import pyarrow as pa

        return bool(pa.types.is_list(kind)) and inner(kind.value_type)

    return is_it
