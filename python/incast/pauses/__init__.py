"""Pauses of priority flow control: who paused whom, and why."""
