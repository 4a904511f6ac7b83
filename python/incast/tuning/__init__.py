"""Choosing parameters: a search over the axes of a study, and how much each of them matters.

``declaration`` reads what is searched for, ``search`` tries sets of values, ``outcome`` says what was found.
"""
