"""All commands of ``incast``, put together."""

from __future__ import annotations

import typer

from incast.commands import (
    coexist,
    compare,
    describe,
    doctor,
    explain,
    export,
    importing,
    lab,
    model,
    new,
    overview,
    paper,
    plot,
    report,
    run,
    study,
    tune,
    validate,
    view,
    workload,
)


def program() -> typer.Typer:
    """Put the commands together."""
    app = typer.Typer(
        name="incast",
        help="A laboratory for data-center congestion control.",
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(overview.incast)
    begin = typer.Typer(help="Write a commented file to begin with.", no_args_is_help=True)
    begin.command()(new.scenario)
    begin.command()(new.study)
    begin.command()(new.controller)
    begin.command()(new.paper)
    app.add_typer(begin, name="new")
    app.command()(run.run)
    app.command()(compare.compare)
    app.command()(coexist.coexist)
    app.command()(report.report)
    app.command()(plot.plot)
    app.command()(view.view)
    app.command()(lab.lab)
    app.command()(export.export)
    reasons = typer.Typer(help="Explain what happened in a run.", no_args_is_help=True)
    reasons.command()(explain.pauses)
    reasons.command()(explain.jobs)
    app.add_typer(reasons, name="explain")
    imports = typer.Typer(help="Turn input files of other simulators into scenarios.", no_args_is_help=True)
    imports.command()(importing.hpcc)
    imports.command()(importing.htsim)
    imports.command()(importing.cdf)
    app.add_typer(imports, name="import")
    jobs = typer.Typer(help="Jobs of AI clusters: check, count, bound and convert them.", no_args_is_help=True)
    jobs.command()(workload.lint)
    jobs.command()(workload.stats)
    jobs.command()(workload.bound)
    jobs.command()(workload.convert)
    jobs.command()(workload.expand)
    jobs.command()(workload.isolate)
    jobs.command()(workload.collective)
    jobs.command()(workload.llm)
    app.add_typer(jobs, name="workload")
    app.command()(tune.tune)
    app.command()(tune.sensitivity)
    papers = typer.Typer(help="Reproduce figures of published papers and check their claims.", no_args_is_help=True)
    papers.command("list")(paper.list_)
    papers.command()(paper.show)
    papers.command()(paper.run)
    papers.command()(paper.report)
    papers.command()(paper.copy)
    app.add_typer(papers, name="paper")
    studies = typer.Typer(help="Many runs: axes, arms and seeds in a store that grows.", no_args_is_help=True)
    studies.command()(study.run)
    studies.command()(study.extend)
    studies.command(hidden=True)(study.work)
    studies.command()(study.status)
    studies.command()(study.export)
    app.add_typer(studies, name="study")
    app.command()(study.query)
    app.command("model", add_help_option=False, context_settings={"ignore_unknown_options": True})(model.model)
    app.command("list")(describe.list_)
    app.command()(describe.describe)
    app.command()(describe.schema)
    app.command()(validate.validate)
    app.command()(doctor.doctor)
    return app
