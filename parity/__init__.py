"""The simulator held against ns-3, htsim and the real Linux stack: ``make parity``."""
