"""Closed-form models: figures, curves, and models drawn over measured figures."""
