"""Papers as data: every folder here with a ``paper.toml`` is a paper whose figures ``incast paper`` reproduces.

``reading`` reads and checks a folder (``keys`` its keys) into the classes of ``definition``. ``expression`` evaluates
claims, ``judging`` decides whether they hold. ``planning`` makes the runs, ``measuring`` reads numbers from them, and
``evaluation`` combines both. ``drawing`` and ``page`` show the results. No module depends on a specific paper.
"""
