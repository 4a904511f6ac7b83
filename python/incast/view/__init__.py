"""What ``incast view`` makes of run folders: ``reading`` takes a folder, ``packing`` its columns, ``page`` is the file."""
