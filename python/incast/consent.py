"""Consent to run code: asked at one place, before anything is imported that a scenario names.

A class of the user's own is a program with the user's rights. Who names it on the command line, or hands it to a
function, has decided. Scenarios, studies, papers and stores come from anybody: a name in one of these is no permission.
``permit`` is called before every such import (``incast.controllers``), and refuses unless the user has said
``--allow-code``, has answered a question at the terminal, or has given ``allow_code=True``.

Consent to what a file names is to code, not to a name: it holds for a file's content, so a copy of the file in a store
has it too, and another version of the file has not. What users name themselves they may also change.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field

from incast import own_code
from incast.errors import ScenarioError
from incast.own_code import Code

EVERYTHING = "*"
"""Consent to all code, in place of digests."""


@dataclass
class _State:
    """What this process may run, and who is asked."""

    granted: set[str] = field(default_factory=set)
    ask: Callable[[str], bool] | None = None
    tell: Callable[[str], None] | None = None
    is_looking_away: bool = False


_state = _State()
_where: ContextVar[str] = ContextVar("where", default="")
_allowing: ContextVar[bool] = ContextVar("allowing", default=False)


def permit(code: Code, name: str, key: str = "") -> bool:
    """Say whether code may be run that a scenario's key names; ``False`` only while nothing is run or asked.

    Raises ``ScenarioError`` where the user has not allowed it.
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
        f"{subject} is a program that would run with your rights; if you trust it, allow it by --allow-code (in Python "
        "allow_code=True, or the class itself)"
    )


def _path_of(code: Code) -> str:
    """Give what stands for a file whatever it contains."""
    return f"path {code.file or code.place}"


def allow_everything() -> None:
    """Let this process run all code that is named anywhere: the user has said ``--allow-code``."""
    _state.granted.add(EVERYTHING)


def allow(code: Code) -> None:
    """Let this process run this code."""
    _state.granted.add(code.digest)


def grant(*given: object) -> None:
    """Let this process run the classes that the user names in these texts, tables and lists, as they are and will be.

    Called with what stands on the command line or in a call, never with what a file says. What is no name of a class,
    and what is not found, is left to those who read it.
    """
    for one in given:
        match one:
            case str():
                found = own_code.split(one.strip().strip("\"'"))
                with suppress(ScenarioError, tomllib.TOMLDecodeError, RecursionError):
                    if found is not None:
                        code = own_code.locate(found[0])
                        _state.granted |= {code.digest, _path_of(code)}
                    elif one.lstrip()[:1] in ("{", "["):  # a table or a list, as scenarios write them
                        grant(tomllib.loads(f"given = {one}")["given"])
            case Mapping():
                grant(*one.values())
            case list() | tuple():
                grant(*one)


@contextmanager
def reading(where: str, allow_code: bool = False) -> Iterator[None]:
    """Say, for messages, which file is read meanwhile; with ``allow_code`` all that it names may run.

    What is read inside has the outer consent too.
    """
    place = _where.set(where or _where.get())
    allowing = _allowing.set(allow_code or _allowing.get())
    try:
        yield
    finally:
        _where.reset(place)
        _allowing.reset(allowing)


def looking_at(origin: str, allow_code: bool) -> AbstractContextManager[None]:
    """Do as ``reading`` does with what was read before, from ``origin``: a file that is being read goes before it."""
    return reading(_where.get() or origin, allow_code)


def origin() -> str:
    """Give the file that is read or looked at; nothing where a text is."""
    return _where.get()


def look_away(away: bool = True) -> None:
    """From now on run no code and ask nobody, but for what is allowed already: classes are not looked at.

    So the program begins, until a command that makes runs says who is asked.
    """
    _state.is_looking_away = away


@contextmanager
def looking_away() -> Iterator[None]:
    """Do as ``look_away`` does in this block."""
    before = _state.is_looking_away
    look_away()
    try:
        yield
    finally:
        look_away(before)


def asks(ask: Callable[[str], bool] | None, tell: Callable[[str], None]) -> None:
    """Say who is asked from now on (nobody: what is not allowed is refused), and who is told what runs."""
    _state.ask, _state.tell = ask, tell
    look_away(False)


def granted() -> list[str]:
    """Give what this process may run, for a worker of it."""
    return sorted(_state.granted)


def inherit(given: Sequence[str]) -> None:
    """Take over what the program may run that this worker belongs to."""
    _state.granted.update(given)
