"""Many runs: plan, workers, journal and store, and their continuation after a kill."""
