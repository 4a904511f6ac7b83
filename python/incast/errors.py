"""Errors of the package, as exceptions with the user's words in them."""

from incast._core import ControllerError, ModelError, RunError, RunStopped, ScenarioError

__all__ = [
    "ControllerError",
    "FolderError",
    "IncastError",
    "ModelError",
    "PaperError",
    "RunError",
    "RunStopped",
    "ScenarioError",
    "StudyError",
]


class IncastError(Exception):
    """Base of the errors raised on the Python side."""


class FolderError(IncastError):
    """A results folder cannot be used: it is not empty, not writable, or not one of ours."""


class StudyError(IncastError):
    """A comparison is asked for in a way that cannot be run."""


class PaperError(IncastError):
    """A paper is not known, has no such figure, or its folder says something that cannot be."""
