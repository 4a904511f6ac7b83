"""Exceptions of the package, with messages in the user's terms."""

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
    "WriteError",
]


class IncastError(Exception):
    """Base of all errors of the package."""

    __slots__ = ()  # the layout of Exception, so that it can become the base of the engine's exceptions


for _engine in (ModelError, RunError, ScenarioError):
    _engine.__bases__ = (IncastError,)


class FolderError(IncastError):
    """A results folder cannot be used: it is not empty, not writable, or not one of ours."""


class StudyError(IncastError):
    """A comparison or study has invalid arguments."""


class UnsoundError(RunError):
    """A run ended with figures that cannot be right, because of a defect in the engine."""

    result: Any = None
    """The run (``Result``), for debugging; ``None`` if no result was requested."""


class WriteError(IncastError, OSError):
    """A result cannot be written, as on a full disk: ``filename`` and ``strerror`` say what and why.

    No half-written result is left behind; a study continues when it is run again.
    """

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}; no half-written result was left behind"


class ExtraError(IncastError):
    """A package of an optional extra is missing."""


class PaperError(IncastError):
    """A paper or figure is unknown, or the paper's folder is inconsistent."""


def users_traceback(error: BaseException) -> str:
    """Return the traceback of an error in a user's controller; empty if the message has it all."""
    cause = error.__cause__
    if not isinstance(error, ControllerError) or cause is None or cause.__traceback__ is None:
        return ""
    return "".join(traceback.format_exception(cause)).rstrip()


REFUSALS = (ScenarioError, StudyError, FolderError)
"""Errors about arguments, raised before any run."""


def needs(extra: str, error: ModuleNotFoundError) -> ExtraError:
    """Return the error that names the extra with the missing module."""
    return ExtraError(f'this needs {error.name}, which is not installed: pip install "incast[{extra}]"')
