"""Tuning of parameters: a search over the axes of a study, and sensitivity analysis.

``declaration`` reads the objective, ``search`` tries sets of values, ``outcome`` evaluates the result.
"""
