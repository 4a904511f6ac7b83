"""Viewer of runs (``incast view``): ``sources``, their parts (``reading``, ``framed``, ``packing``), and pages."""
