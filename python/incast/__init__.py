"""A laboratory for data-center congestion control.

>>> import incast
>>> result = incast.Scenario.load("dumbbell").with_({"run.duration": "20ms", "run.warmup": "5ms"}).run(seed=1)
>>> result.summary["run"]["seed"]
1
>>> result.flows.column_names[:3]
['flow', 'group', 'controller']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incast import model
    from incast._core import __version__
    from incast.calls import compare
    from incast.errors import (
        ControllerError,
        ExtraError,
        FolderError,
        IncastError,
        ModelError,
        RunError,
        RunStopped,
        ScenarioError,
        StudyError,
        UnsoundError,
    )
    from incast.evaluation import Figures, evaluate
    from incast.result import Result
    from incast.scenario import Scenario
    from incast.study.api import Study
    from incast.study.store import Store

__all__ = [
    "ControllerError",
    "ExtraError",
    "Figures",
    "FolderError",
    "IncastError",
    "ModelError",
    "Result",
    "RunError",
    "RunStopped",
    "Scenario",
    "ScenarioError",
    "Store",
    "Study",
    "StudyError",
    "UnsoundError",
    "__version__",
    "compare",
    "evaluate",
    "model",
]

# Each name is loaded when it is first asked for: the program is to be at its own main() at once.
_HOMES = {
    "Figures": "incast.evaluation",
    "Result": "incast.result",
    "Scenario": "incast.scenario",
    "Store": "incast.study.store",
    "Study": "incast.study.api",
    "__version__": "incast._core",
    "compare": "incast.calls",
    "evaluate": "incast.evaluation",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'incast' has no attribute '{name}'")
    home = import_module("incast.model" if name == "model" else _HOMES.get(name, "incast.errors"))
    value = home if name == "model" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
