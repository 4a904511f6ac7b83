"""Pictures: style, axes with intervals, files, and the pictures of one run."""
