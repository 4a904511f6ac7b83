"""Sessions of Ray, without Ray: `test_ray.py` has real clusters."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from incast import StudyError
from incast.batch import rays

DIED = "Traceback\nRuntimeError: Starting Ray client server failed. See ray_client_server_23000.err for detailed logs."


@pytest.mark.parametrize(
    ("errors", "begun"),
    [
        ([RuntimeError(DIED)], 2),
        ([ConnectionError("psutil.ZombieProcess: PID still exists"), RuntimeError(DIED)], 3),
        ([RuntimeError(DIED)] * 3, 3),
        ([ConnectionError("ray client connection timeout")], 1),
    ],
)
def test_a_session_whose_process_died_at_once_is_begun_again(
    monkeypatch: pytest.MonkeyPatch, errors: list[Exception], begun: int
) -> None:
    waiting = iter(errors)
    addresses: list[str] = []

    def init(address: str, **_others: Any) -> None:
        addresses.append(address)
        for error in waiting:
            raise error

    monkeypatch.setattr(rays, "_ray", lambda: SimpleNamespace(init=init, cluster_resources=dict))
    if begun > len(errors):
        rays.hire_at("ray://head:10001", 0)
    else:
        with pytest.raises(StudyError, match="--on ray://head:10001: no Ray cluster answers: "):
            rays.hire_at("ray://head:10001", 0)
    assert addresses == ["ray://head:10001"] * begun
