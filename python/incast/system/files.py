"""Bounded reading of untrusted files.

A folder from somebody else may hold anything under the expected names: a link to an endless device, a pipe without a
writer, a file larger than memory, JSON of 200,000 brackets, a small table that unpacks to more than all memory. Every
function here raises ``OSError``, or ``ValueError`` with what is wrong with the file.
"""

from __future__ import annotations

import errno
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

from incast.errors import FolderError
from incast.system import footers
from incast.system.memory import free_memory, spoken

if TYPE_CHECKING:
    # Arrow is slow to load: load it only for tables
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

RUN_FILE = "manifest.json"
"""File that marks a run folder."""
STORE_FILE = "store.json"
"""File that marks a store of studies."""
MOST_JSON = 256 << 20
"""Most bytes of a JSON file: a timeline of a million ports has some hundred MB."""
MOST_TOML = 64 << 20
"""Most bytes of a study, a paper, or a scenario in a run folder; same as of a scenario from standard input."""
MOST_DEPTH = 64
"""Most levels of nested tables and lists: no file of the program has ten."""
HOLLOW = 1 << 30
"""Bytes of a file above which it may not begin with a hole."""
SMALL = 32 << 20
"""Bytes that are read without checking the free memory: the check takes as long as reading a small table."""
WORK = 2.0
"""Memory for a table, as a multiple of the size of its columns: computed values need memory too."""
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
"""Bytes of a value by its Parquet type; texts have codes of ``CODE`` bytes."""
CODE = 4
PATIENCE_MS = 500
"""Time to wait for the writer of a pipe."""
LONGEST = 300
"""Most characters of an error that are shown: some errors quote a whole line of the file."""
KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def message_of(error: BaseException) -> str:
    """Return the message of an error raised here, in one line."""
    return brief(" ".join((getattr(error, "strerror", None) or str(error)).split()))


def brief(words: str, most: int = LONGEST) -> str:
    """Return a text of at most ``most`` characters: a longer one without its end."""
    return words if len(words) <= most else f"{words[:most]}..."


def kind_of(mode: int) -> str:
    """Return the kind of a path by the mode of ``os.stat``; empty for a plain file."""
    return next((name for is_it, name in KINDS if is_it(mode)), "")


@contextmanager
def opened(path: Path, pipes: bool = False) -> Iterator[BinaryIO]:
    """Open a plain file; with ``pipes`` also a pipe or a device that a user may name (``<(...)``, /dev/stdin).

    Raises ``ValueError`` for anything else. A pipe without a writer reads as empty, after ``PATIENCE_MS``.
    """
    # check before opening: opening waits for the writer of a pipe, and may act on a device
    _refuse_other(path.stat().st_mode, pipes)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with open(descriptor, "rb") as file:  # noqa: PTH123
        _refuse_other(mode := os.fstat(descriptor).st_mode, pipes)
        if stat.S_ISFIFO(mode):
            # opening lets the writer in; before that there is neither data nor an end
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
    """Read a file of at most ``most`` bytes, and at most what fits memory."""
    with opened(path, pipes) as file:
        size = os.fstat(file.fileno()).st_size
        if size > SMALL or size == 0:  # 0: also a pipe
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
    raise AssertionError("larger files are refused")


def _refuse_large(size: float, most: float) -> None:
    if size > most:
        raise ValueError(f"has {spoken(size)} or more; expected at most {spoken(most)}")


def read_text(path: Path, most: float = MOST_TOML, pipes: bool = False) -> str:
    """Read a text file (UTF-8) of at most ``most`` bytes; ``UnicodeDecodeError`` is a ``ValueError``."""
    return read_bytes(path, most, pipes).decode("utf-8")


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json_of(read_text(path, MOST_JSON))


def json_of(text: str | bytes, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Read JSON; raises ``ValueError``, also for too deep nesting."""
    try:
        value = json.loads(text, parse_constant=parse_constant)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    return _shallow(value)


def read_toml(path: Path, pipes: bool = False) -> dict[str, Any]:
    """Read a TOML file."""
    return toml_of(read_text(path, MOST_TOML, pipes))


def toml_of(text: str) -> dict[str, Any]:
    """Read TOML; raises ``ValueError``, also for too deep nesting."""
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
"""Exceptions of Python, numpy and Arrow for contradictory files, beyond what is checked."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Read a folder in this block; contradictions between its files become a ``FolderError``.

    Each file is checked as it is read; consistency across files (numbers of rows, references) only when it is used.
    Draw and write results after the block. A bug of the program may also end here: the error has the original one as
    its cause.
    """
    try:
        yield
    except UNFORESEEN as error:
        raise FolderError(
            f"{folder} cannot be read: {type(error).__name__}: {message_of(error)}; if incast wrote it, "
            "please report this"
        ) from error


def _is_hollow(file: BinaryIO) -> bool:
    """Return whether a file begins with a hole, where the system says so."""
    if not hasattr(os, "SEEK_DATA"):
        return False
    try:
        return os.lseek(file.fileno(), 0, os.SEEK_DATA) > 0
    except OSError as error:
        return error.errno == errno.ENXIO
    finally:
        file.seek(0)


def digest_of(path: Path) -> str:
    """Compute the SHA-256 of a plain file; raises ``ValueError`` for a large one that begins with a hole."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        # reading terabytes of zeros takes hours
        if size > HOLLOW and _is_hollow(file):
            raise ValueError(f"has {spoken(size)}, and begins with a hole")
        return hashlib.file_digest(cast("io.BufferedReader", file), "sha256").hexdigest()


# Tables


def read_table(
    source: Path | bytes,
    columns: Sequence[str] | None = None,
    *,
    threads: bool = True,
    checksums: bool = False,
) -> pa.Table:
    """Read columns of a Parquet file, or of its bytes; raises ``ValueError`` if they unpack to more than free memory.

    The size is checked before reading: a page of equal values has few bytes, whatever their number.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    options: dict[str, Any] = {"page_checksum_verification": checksums}
    with _parquet(source) as place, pq.ParquetFile(place, **options) as file:
        whole = file.schema_arrow
        wanted = list(whole.names if columns is None else dict.fromkeys(columns))
        if lacking := sorted({*wanted} - {*whole.names}):
            raise ValueError(f"it has no column {', '.join(lacking)}")
        schema = pa.schema([whole.field(name) for name in wanted], whole.metadata)
        size, texts = unpacked(source, schema)
        _refuse_above_memory(size)
        if not texts:
            return file.read(wanted, use_threads=threads)
    # texts as codes: the unpacked size is known before they are decoded
    with _parquet(source) as place, pq.ParquetFile(place, read_dictionary=texts, **options) as file:
        if not any("." in path for path in texts) or file.num_row_groups == 0:
            return _written_out(file.read(wanted, use_threads=threads), schema)
        # lists of codes can only be read group by group
        groups = (file.read_row_group(number, wanted, use_threads=threads) for number in range(file.num_row_groups))
        return _written_out(pa.concat_tables(groups), schema)


def read_schema(source: Path | bytes) -> pa.Schema:
    """Read the schema of a Parquet file, with the metadata of its columns."""
    import pyarrow.parquet as pq

    with _parquet(source) as place, pq.ParquetFile(place) as file:
        return file.schema_arrow


def read_footer(source: Path | bytes) -> pq.FileMetaData:
    """Read the footer of a Parquet file without its rows; a truncated file has none."""
    import pyarrow.parquet as pq

    with _parquet(source) as place, pq.ParquetFile(place) as file:
        return file.metadata


@contextmanager
def _parquet(source: Path | bytes) -> Iterator[Any]:
    """Open a Parquet file for Arrow, and turn Arrow's errors about damage into ``ValueError``."""
    import pyarrow as pa

    try:
        if isinstance(source, bytes):
            yield pa.BufferReader(source)
        else:
            _refuse_other(source.stat().st_mode, pipes=False)
            yield source
    except (KeyError, TypeError, IndexError, NotImplementedError) as error:
        # Arrow's errors are of these classes too
        message = error.args[0] if error.args else error
        raise ValueError(message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)) from None
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow's own errors about a page or a footer
        raise ValueError(str(error)) from None


def _footer(source: Path | bytes) -> bytes:
    """Read the tail of a Parquet file from its footer on."""
    if isinstance(source, bytes):
        return source[-footers.size_of(source[-8:], len(source)) :]
    with opened(source) as file:
        there = file.seek(0, os.SEEK_END)
        file.seek(max(there - 8, 0))
        size = footers.size_of(file.read(8), there)
        file.seek(there - size)
        return file.read(size)


def unpacked(source: Path | bytes, schema: pa.Schema) -> tuple[int, list[str]]:
    """Return the size of Parquet columns in memory, from the footer alone, with texts counted as codes.

    Also returns the paths of text columns. Raises ``ValueError`` for types that no table of the program has.
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
            f"it unpacks to {spoken(size)}, which needs about {spoken(needed)} of memory, and {spoken(free)} is free"
        )


def numbers_of(array: pa.Array) -> np.ndarray[Any, Any]:
    """Return numbers of an array as NumPy's, missing ones as NaN; ``to_numpy`` would load pandas, where it is there."""
    import numpy as np

    kind = array.type.to_pandas_dtype()
    valid, data = array.buffers()
    if not len(array):
        return np.zeros(0, kind)
    span = slice(array.offset, array.offset + len(array))
    values = np.frombuffer(data, kind, span.stop)[span]
    if not array.null_count:
        return values
    there = np.unpackbits(np.frombuffer(valid, np.uint8), count=span.stop, bitorder="little")[span]
    return np.where(there, values, np.nan)


def _written_out(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Decode texts that were read as codes; raises ``ValueError`` if they do not fit memory."""
    import pyarrow as pa

    coded = [field for field in schema if table[field.name].type != field.type]
    _refuse_above_memory(sum(_length(chunk) for field in coded for chunk in table[field.name].chunks))
    return pa.table([table[field.name].cast(field.type) for field in schema], schema=schema)


def _length(chunk: pa.Array) -> int:
    """Return the bytes of texts that are codes, or of lists of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(chunk.type):
        chunk = chunk.flatten()
    lengths = pc.binary_length(chunk.dictionary).cast(pa.int64())
    counts = pc.value_counts(chunk.indices.drop_null())
    return pc.sum(pc.multiply(lengths.take(counts.field("values")), counts.field("counts"))).as_py() or 0


def is_text(kind: pa.DataType) -> bool:
    """Return whether values of a type are texts."""
    import pyarrow as pa

    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(own) or pa.types.is_large_string(own))


def is_number(kind: pa.DataType) -> bool:
    """Return whether values of a type are numbers or booleans."""
    import pyarrow as pa

    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(own) for test in tests)


def is_list_of(inner: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check for lists of values that pass ``inner``."""

    def is_it(kind: pa.DataType) -> bool:
        import pyarrow as pa

        return bool(pa.types.is_list(kind)) and inner(kind.value_type)

    return is_it
