"""Commented files to begin with: scenario, study, controller, paper."""
