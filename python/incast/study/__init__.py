"""Studies: from a set of keys, values and seeds to runs in a store.

Interface for other parts of the package::

    from incast.study.api import Study, load, of_store
    study = load("study.toml")             # or Study("incast", axes=..., arms=..., seeds=...)
    study.points()                         # list of Point(scenario, arm, values): a run without its seed
    study.scenario_of(point)               # the Scenario of a point; values of its axes' keys are free
    study.others["tune"]                   # table [tune] of the file, which this package ignores

    from incast.study.planning import make
    store = make("runs/mine", study, points=[...], seeds=[1, 2])    # makes the missing ones of these, adds their rows
    store.runs                             # Arrow table: study, scenario, arm, controller, keys, seed, run, figures

Modules import names from the modules that define them; this one imports nothing.
"""
