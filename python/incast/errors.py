"""Errors of the package, as exceptions with the user's words in them."""

import traceback
from typing import Any

from incast._core import ControllerError, ModelError, RunError, RunStopped, ScenarioError

__all__ = [
    "ControllerError",
    "ExtraError",
    "FolderError",
    "IncastError",
    "ModelError",
    "PaperError",
    "RunError",
    "RunStopped",
    "ScenarioError",
    "StudyError",
    "UnsoundError",
]


class IncastError(Exception):
    """Base of the errors raised on the Python side."""


class FolderError(IncastError):
    """A results folder cannot be used: it is not empty, not writable, or not one of ours."""


class StudyError(IncastError):
    """A comparison is asked for in a way that cannot be run."""


class UnsoundError(RunError):
    """A run came to its end, and no figure of it is to be used: the engine is wrong."""

    result: Any = None
    """The run (``Result``), for whoever looks for what is wrong; ``None`` where nobody asked for one."""


class ExtraError(IncastError):
    """A package is missing that an extra of this one installs."""


class PaperError(IncastError):
    """A paper is not known, has no such figure, or its folder says something that cannot be."""


def users_traceback(error: BaseException) -> str:
    """Give the traceback of what went wrong in a user's controller; nothing where that is all in the error's words."""
    cause = error.__cause__
    if not isinstance(error, ControllerError) or cause is None or cause.__traceback__ is None:
        return ""
    return "".join(traceback.format_exception(cause)).rstrip()


REFUSALS = (ScenarioError, StudyError, FolderError)
"""Errors about what is asked for, before anything is made."""


def needs(extra: str, error: ModuleNotFoundError) -> ExtraError:
    """Say which extra of the package has the module that is missing."""
    return ExtraError(f'this needs {error.name}, which is not installed: pip install "incast[{extra}]"')
