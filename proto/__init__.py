"""Prototypes on real machines, of what the simulator computes."""
