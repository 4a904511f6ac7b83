"""A laboratory for data-center congestion control.

>>> import incast
>>> result = incast.Scenario.load("dumbbell").with_({"run.duration": "20ms", "run.warmup": "5ms"}).run(seed=1)
>>> result.summary["run"]["seed"]
1
>>> result.flows.column_names[:3]
['flow', 'group', 'controller']
"""

from incast._core import __version__
from incast.errors import FolderError, IncastError, RunError, RunStopped, ScenarioError, StudyError
from incast.result import Result
from incast.scenario import Scenario
from incast.study import Study

__all__ = [
    "FolderError",
    "IncastError",
    "Result",
    "RunError",
    "RunStopped",
    "Scenario",
    "ScenarioError",
    "Study",
    "StudyError",
    "__version__",
]
