"""Studies: from a set of keys, values and seeds to runs in a store.

What other parts of the package build on::

    from incast.study.api import Study, load, of_store
    study = load("study.toml")             # or Study("incast", axes=..., arms=..., seeds=...)
    study.points()                         # list of Point(scenario, arm, values): a run but for its seed
    study.scenario_of(point)               # the Scenario of a point; a Point may have any values of its axes' keys
    study.others["tune"]                   # table [tune] of the file, which this package leaves alone

    from incast.study.runner import make
    store = make("runs/mine", study, points=[...], seeds=[1, 2])    # makes what is missing of these, adds their rows
    store.runs                             # Arrow table: study, scenario, arm, controller, keys, seed, run, figures

Modules import what they need from the module that defines it: this one imports nothing.
"""
