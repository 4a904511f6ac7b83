"""A study on a Ray cluster of two nodes, one of which is killed in mid-study: run by test_ray.py as a program.

python ray_study.py STUDY STORE KILLS
"""

from __future__ import annotations

import logging
import random
import sys
import threading
from pathlib import Path

from incast.batch import rays
from incast.batch.runner import Status
from incast.study.api import load


def main() -> None:
    """Make the study's runs; after a tenth of them, and again later, a node goes and another comes."""
    from ray.cluster_utils import Cluster

    study, store, kills = load(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    second = cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    cluster.wait_for_nodes()
    moments = random.Random(3)
    marks = sorted(moments.uniform(0.1, 0.7) for _ in range(kills))
    killed = 0
    changes: list[threading.Thread] = []

    def change() -> None:
        nonlocal second
        cluster.remove_node(second, allow_graceful=False)
        if killed < kills:
            second = cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)

    def show(status: Status) -> None:
        nonlocal killed
        idle = not (changes and changes[-1].is_alive())
        if killed < kills and idle and status.finished >= marks[killed] * status.total:
            killed += 1
            changes.append(threading.Thread(target=change))
            changes[-1].start()

    hire = rays.hire_at(f"ray:{cluster.address}", 0)
    study.run(store, hire=hire, show=show)
    for one in changes:
        one.join()
    cluster.shutdown()
    print(f"killed {killed}")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    main()
