"""The program ``incast``: its commands, put together.

Exit status 0: done; 1: a run failed, or its results could not be written; 2: bad input; 130: interrupted by Ctrl-C;
143: by SIGTERM; 129: its terminal was closed. Messages go to standard error, results to standard output.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from incast.system.interrupts import loading

if TYPE_CHECKING:
    from typer import Typer


def main() -> None:
    """Run the command line."""
    # Pictures go to files: a window backend, or a missing one, must not matter.
    os.environ["MPLBACKEND"] = "agg"
    with loading():
        from incast.external import consent
        from incast.system import output

        output.is_program = True
        consent.look_away()
        from incast.commands import exits

        app = program()
    exits.carry_out(app)


def program() -> Typer:
    """Put the commands together."""
    import typer

    from incast.commands import (
        coexist,
        compare,
        describe,
        export,
        model,
        paper,
        plot,
        report,
        run,
        study,
        tune,
        version,
        view,
    )

    app = typer.Typer(
        name="incast",
        help="A laboratory for data-center congestion control.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(version.incast)
    app.command()(run.run)
    app.command()(compare.compare)
    app.command()(coexist.coexist)
    app.command()(report.report)
    app.command()(plot.plot)
    app.command()(view.view)
    app.command()(export.export)
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
    return app


if __name__ == "__main__":
    main()
