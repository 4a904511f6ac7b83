"""Training jobs from a model's numbers.

>>> import incast
>>> job = incast.llm(layers=4, hidden=1024, seq=2048, tp=2, pp=2, dp=2, micro_batches=4, flops="400Tflops")
>>> job.ranks
8
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incast import _core
from incast.workloads.job import Workload


def llm(**numbers: Any) -> Workload:
    """Return the training job of a transformer: the keys of ``job.llm`` of a scenario, by name.

    Values are numbers, true or false, texts with units (``flops="400Tflops"``, ``bucket="25MB"``) or lists. Ranks are
    tp x pp x dp; collectives are not expanded (``expanded`` does so). Raises ``ScenarioError`` for numbers that do not
    fit together.
    """
    return described([(key, _text(value)) for key, value in numbers.items()])[0]


def described(pairs: Sequence[tuple[str, str]]) -> tuple[Workload, dict[str, Any]]:
    """Return the job of keys and texts with its facts.

    These are the times of a layer and of an iteration without a network (ps), bytes of the gradients of a rank at most,
    and by dimension the number of tasks that exchange data and their bytes: the message, or for each member the total
    of its collective.
    """
    core, facts = _core.workload_llm(list(pairs))
    return Workload(core), facts


def _text(value: Any) -> str:
    """Return a value as it is written in a scenario."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    return str(value)
