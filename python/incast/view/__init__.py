"""What ``incast view`` makes of run folders: ``reading`` takes one, ``packing`` its columns; ``page``, ``serving``."""
