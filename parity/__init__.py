"""The simulator compared with ns-3, htsim and the real Linux stack: ``make parity``."""
