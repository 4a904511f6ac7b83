"""What ``incast view`` makes of runs: ``sources``, their parts (``reading``, ``framed``, ``packing``), pages."""
