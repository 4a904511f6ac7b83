"""The compiled part: scenarios and the engine (crate incast-python)."""

from collections.abc import Callable
from os import PathLike
from typing import Any, final

import numpy as np
import numpy.typing as npt

__version__: str
KINDS: list[str]

class ScenarioError(Exception):
    """A scenario or one of its keys is wrong; the message says which, and what was expected."""

class RunError(Exception):
    """A run could not be carried to its end."""

class ControllerError(RunError):
    """A controller of the user's own raised an exception, which is the cause of this one."""

class RunStopped(RunError):
    """A run was stopped by its progress callback."""

@final
class Scenario:
    """Everything that decides a run. Immutable."""

    @staticmethod
    def load(name_or_path: str) -> Scenario: ...
    @staticmethod
    def from_toml(text: str, origin: str | PathLike[str], name: str) -> Scenario: ...
    def set(self, key: str, value: str) -> Scenario: ...
    def with_controller(self, text: str) -> Scenario: ...
    def with_seed(self, seed: int) -> Scenario: ...
    def validate(self) -> None: ...
    def notes(self) -> list[str]: ...
    def toml(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...

# (name, unit, definition, values, valid, names)
_Column = tuple[str, str, str, npt.NDArray[Any] | list[str], npt.NDArray[np.bool_] | None, list[str] | None]

@final
class RunResult:
    """What one run left."""

    def summary_json(self) -> str: ...
    def table(self, name: str) -> list[_Column]: ...

def run(scenario: Scenario, progress: Callable[[float, float, int], bool | None] | None = None) -> RunResult: ...
def schema() -> str: ...
def list_kind(kind: str) -> list[tuple[str, str]]: ...
def describe(kind: str, name: str) -> str: ...
