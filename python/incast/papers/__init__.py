"""Papers as data: every folder here with a ``paper.toml`` is a paper whose figures ``incast paper`` makes again.

``definition`` reads and checks a folder, ``expression`` evaluates what its claims say, ``evaluation`` carries the runs
out and reads numbers off them, ``drawing`` and ``page`` show them. No module knows any paper.
"""
