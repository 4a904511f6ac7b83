"""Papers as data: every folder here with a ``paper.toml`` is a paper whose figures ``incast paper`` makes again.

``reading`` reads and checks a folder (``keys`` its keys) into what ``definition`` names; ``expression`` evaluates what
claims say, ``judging`` whether they hold; ``planning`` makes the runs, ``measuring`` reads numbers off them,
``evaluation`` puts both together; ``drawing`` and ``page`` show them. No module knows any paper.
"""
