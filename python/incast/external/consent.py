"""Consent to run code: asked in one place, before anything that a scenario names is imported.

A class of the user is a program with the user's rights. Naming it on the command line, or passing it to a function, is
consent. A name in a scenario, study, paper or store is none: these files come from anybody. ``permit`` is called before
every such import (``incast.controllers``), and refuses unless the user gave ``--allow-code``, answered a question at
the terminal, or passed ``allow_code=True``.

Consent to a class named by a file holds for the file's content: a copy in a store has it too, another version of the
file does not. A class that users name themselves may change.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field

from incast.errors import ScenarioError
from incast.external import own_code
from incast.external.own_code import Code

EVERYTHING = "*"
"""Consent to all code, instead of digests."""


@dataclass
class _State:
    """Code that this process may run, and the callback that asks for more."""

    granted: set[str] = field(default_factory=set)
    ask: Callable[[str], bool] | None = None
    tell: Callable[[str], None] | None = None
    is_looking_away: bool = False


_state = _State()
_where: ContextVar[str] = ContextVar("where", default="")
_allowing: ContextVar[bool] = ContextVar("allowing", default=False)


def permit(code: Code, name: str, key: str = "") -> bool:
    """Return whether code that a scenario's key names may run; ``False`` only while nothing is run or asked.

    Raises ``ScenarioError`` if the user has not allowed it.
    """
    if code.digest in _state.granted or _path_of(code) in _state.granted:
        _state.granted.add(code.digest)
        return True
    is_allowed = EVERYTHING in _state.granted or _allowing.get()
    if _state.is_looking_away and not is_allowed:
        return False
    _, word = own_code.split(name) or ("", name)
    what = f"class {word} of {code.file or code.place}"
    where = _where.get()
    named = f"{what}, which {where}{f' ({key})' if key else ''} names" if where else what
    subject = f"{named}," if where else named
    if is_allowed:
        _state.granted.add(code.digest)
        if _state.tell is not None:
            _state.tell(f"runs code: {named}")
        return True
    asked = _state.ask if threading.current_thread() is threading.main_thread() else None
    if asked is not None and asked(subject):
        _state.granted.add(code.digest)
        return True
    raise ScenarioError(
        f"{subject} is a program that would run with your rights; if you trust it, use --allow-code (in Python "
        "allow_code=True, or pass the class itself)"
    )


def _path_of(code: Code) -> str:
    """Return the identity of a file independent of its content."""
    return f"path {code.file or code.place}"


def allow_everything() -> None:
    """Allow this process to run all code: the user gave ``--allow-code``."""
    _state.granted.add(EVERYTHING)


def allow(code: Code) -> None:
    """Allow this process to run this code."""
    _state.granted.add(code.digest)


def grant(*given: object) -> None:
    """Allow this process to run the classes named in these texts, tables and lists, in any version.

    Called with arguments of the command line or of a call, never with content of a file. Other words, and classes that
    are not found, are ignored here.
    """
    for one in given:
        match one:
            case str():
                found = own_code.split(one.strip().strip("\"'"))
                with suppress(ScenarioError, tomllib.TOMLDecodeError, RecursionError):
                    if found is not None:
                        code = own_code.locate(found[0])
                        _state.granted |= {code.digest, _path_of(code)}
                    elif one.lstrip()[:1] in ("{", "["):  # an inline table or list
                        grant(tomllib.loads(f"given = {one}")["given"])
            case Mapping():
                grant(*one.values())
            case list() | tuple():
                grant(*one)


@contextmanager
def reading(where: str, allow_code: bool = False) -> Iterator[None]:
    """Set, for messages, the file that is being read; with ``allow_code`` all code that it names may run.

    Files read inside the block also have the outer consent.
    """
    place = _where.set(where or _where.get())
    allowing = _allowing.set(allow_code or _allowing.get())
    try:
        yield
    finally:
        _where.reset(place)
        _allowing.reset(allowing)


def looking_at(origin: str, allow_code: bool) -> AbstractContextManager[None]:
    """Like ``reading``, for content read earlier from ``origin``; a file that is being read takes precedence."""
    return reading(_where.get() or origin, allow_code)


def origin() -> str:
    """Return the file that is being read or looked at; empty for a text."""
    return _where.get()


def look_away(away: bool = True) -> None:
    """From now on run only code that is already allowed, and ask nobody: other classes are not imported.

    The program starts in this state, until a command that makes runs sets the question.
    """
    _state.is_looking_away = away


@contextmanager
def looking_away() -> Iterator[None]:
    """Apply ``look_away`` inside this block."""
    before = _state.is_looking_away
    look_away()
    try:
        yield
    finally:
        look_away(before)


def asks(ask: Callable[[str], bool] | None, tell: Callable[[str], None]) -> None:
    """Set the callback that asks (``None``: code that is not allowed is refused), and the one that reports code."""
    _state.ask, _state.tell = ask, tell
    look_away(False)


def granted() -> list[str]:
    """Return the permissions of this process, for its workers."""
    return sorted(_state.granted)


def inherit(given: Sequence[str]) -> None:
    """Take over the permissions of the program that started this worker."""
    _state.granted.update(given)
