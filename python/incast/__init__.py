"""A laboratory for data-center congestion control.

>>> import incast
>>> result = incast.Scenario.load("dumbbell").with_({"run.duration": "20ms", "run.warmup": "5ms"}).run(seed=1)
>>> result.summary["run"]["seed"]
1
>>> result.flows.column_names[:3]
['flow', 'group', 'controller']
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from incast.runs import views

if TYPE_CHECKING:
    from incast import controllers
    from incast._core import __version__
    from incast.batch.evaluation import Figures, evaluate
    from incast.batch.store import Store
    from incast.commands.calls import compare
    from incast.commands.lookup import describe, scenarios
    from incast.commands.reproduced import paper
    from incast.commands.tuned import tune
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
        WriteError,
    )
    from incast.models import closed_form as model
    from incast.runs.result import Result
    from incast.runs.scenario import Scenario
    from incast.study.api import Study
    from incast.workloads.job import Workload, collective
    from incast.workloads.training import llm

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
    "Workload",
    "WriteError",
    "__version__",
    "collective",
    "compare",
    "controllers",
    "describe",
    "evaluate",
    "llm",
    "model",
    "paper",
    "scenarios",
    "tune",
]

# Each name is loaded when it is first asked for: the program is to be at its own main() at once.
_HOMES = {
    "Figures": "incast.batch.evaluation",
    "Result": "incast.runs.result",
    "Scenario": "incast.runs.scenario",
    "Store": "incast.batch.store",
    "Study": "incast.study.api",
    "Workload": "incast.workloads.job",
    "__version__": "incast._core",
    "collective": "incast.workloads.job",
    "compare": "incast.commands.calls",
    "controllers": "incast.controllers",
    "describe": "incast.commands.lookup",
    "evaluate": "incast.batch.evaluation",
    "llm": "incast.workloads.training",
    "model": "incast.models.closed_form",
    "paper": "incast.commands.reproduced",
    "scenarios": "incast.commands.lookup",
    "tune": "incast.commands.tuned",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'incast' has no attribute '{name}'")
    home = import_module(_HOMES.get(name, "incast.errors"))
    value = home if name in ("controllers", "model") else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})


def _pictures_of(result: views.Run) -> views.Pictures:
    from incast.pictures.run_pictures import Pictures  # loads Matplotlib

    return Pictures(result)


def _view_of(results: Sequence[views.Run], allow_code: bool) -> views.View:
    from incast.view.notebook import of_results

    return of_results(results, allow_code)


views.pictures_of, views.view_of = _pictures_of, _view_of
