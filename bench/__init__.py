"""Benchmarks of the engine, robust against other load on the machine: ``make bench``."""
