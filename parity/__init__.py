"""The simulator compared with ns-3, htsim, Days and the real Linux stack: ``make parity``."""
