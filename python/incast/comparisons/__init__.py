"""Controllers side by side: declaration, runs and results of comparisons and pairs."""
