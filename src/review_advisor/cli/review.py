"""``review-advisor review``: review a git range, the index, a patch, or a pull request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, assert_never, get_args

import click

from review_advisor.cli.terminal.options import CLAUDE_BIN, PATH, REPO, BoundedNumber, artifacts_option
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import NOT_TO_ITS_END, clear_refusals, told_beside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from review_advisor.app.change_source import Selection
    from review_advisor.app.review import ReviewOptions
    from review_advisor.core.outcome.document import OutcomeDocument

ReportFormat = Literal["text", "json", "markdown", "sarif", "github"]
FORMATS = get_args(ReportFormat)
EXAMPLES = """\b
Examples:
  review-advisor review                        your branch, with what is not committed
  review-advisor review --base main            the changes on this branch
  review-advisor review --range v1.2..HEAD     a range of commits
  review-advisor review --staged               what the next commit will hold
  review-advisor review --patch fix.diff       a patch, without its repository
  review-advisor review --base origin/main --gate --output outcome.json    in CI
  review-advisor review --pr octo/hello#7      a pull request on GitHub
"""


@click.command(short_help="Review a change; the verdict is the exit code.", epilog=EXAMPLES)
@click.option("--range", "revisions", metavar="A..B", help="From A to B (A...B: from their merge base).")
@click.option("--base", metavar="REF", help="The changes on HEAD since its merge base with REF.")
@click.option("--staged", is_flag=True, help="The staged changes.")
@click.option("--untracked", is_flag=True, help="Without a range: untracked files too. Ignored ones are never sent.")
@click.option("--patch", type=PATH, metavar="FILE", help="A patch file. The models have no tree to read.")
@click.option("--pr", metavar="PR", help="A pull request: OWNER/REPO#N, its address, or N with GITHUB_REPOSITORY.")
@click.option("--head", metavar="SHA", help="With --pr: review this head commit only.")
@click.option("--memory", metavar="WORD", help="With --pr: what `begin` said of the state in the summary comment.")
@click.option(
    "--settle",
    type=click.IntRange(0, 600),
    default=0,
    metavar="SECONDS",
    help="With --pr: wait for a newer push first.",
)
@click.option(
    "--most-usd",
    type=BoundedNumber(min=0, min_open=True),
    metavar="USD",
    help="Spend at most this much, even if the configuration allows more.",
)
@REPO
@click.option("--title", help="The change's title. [default: the pull request's, or the head's subject]")
@click.option(
    "--body-file", type=PATH, metavar="FILE", help="Its description. [default: the pull request's, or the commits']"
)
@click.option("--spec", "spec_file", type=PATH, metavar="FILE", help="The specification it implements.")
@click.option(
    "--agent",
    type=click.Choice(["claude", "embedded"]),
    default="claude",
    show_default=True,
    help="The real CLI, or static checks without a model.",
)
@CLAUDE_BIN
@click.option(
    "--jobs",
    type=click.IntRange(1, 16),
    metavar="N",
    help="Calls at a time, in a change of several parts.  [default: the configuration's]",
)
@click.option(
    "--repair",
    type=click.Choice(["off", "suggest"]),
    default="suggest",
    show_default=True,
    help="Let the executor answer a veto of its approval with a patch, which is judged and only suggested.",
)
@click.option(
    "--config",
    "config_file",
    type=PATH,
    metavar="FILE",
    help="Configuration. [default: the base's .review-advisor.toml or pyproject.toml]",
)
@click.option("--profile", type=click.Choice(["adr", "hydraflow"]), help="Default critical paths.")
@click.option(
    "--escalation",
    type=click.Choice(["adr", "attrition", "harness"]),
    help="When the review itself consults the advisor.  [default: the configuration's]",
)
@click.option("--consult", is_flag=True, help="Consult the advisor on the executor's report.")
@artifacts_option("Where the review's folder goes.")
@click.option(
    "--ledger",
    "ledger_file",
    type=PATH,
    metavar="FILE",
    help="The ledger that records it.  [default: ledger/ledger.sqlite3 beside the review's folder]",
)
@click.option(
    "--output",
    type=PATH,
    metavar="FILE",
    help="Also write outcome.json here. If the review of a pull request is refused, a .refusal.txt beside it says why.",
)
@click.option(
    "--allow-unchecked",
    is_flag=True,
    help="With --agent embedded: exit 0 even if no rule reads some of the changed code.",
)
@click.option(
    "--with-sarif",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Findings of another tool, which the models see and do not repeat. May be given several times.",
)
@click.option("--fresh", is_flag=True, help="Ask all questions again, and ignore stored answers.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="What to print: text; outcome.json; Markdown; SARIF; or annotations for the log of a GitHub workflow.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--explain", is_flag=True, help="Also print how the verdict came about, and what it cost.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes on stderr, only warnings.")
@click.option("--gate", is_flag=True, help="For make and CI: print only one line if the exit code is 0.")
@click.pass_context
def review(
    context: click.Context,
    repo: Path,
    revisions: str | None,
    base: str | None,
    staged: bool,
    patch: Path | None,
    pr: str | None,
    head: str | None,
    memory: str | None,
    settle: int,
    most_usd: float | None,
    title: str | None,
    body_file: Path | None,
    spec_file: Path | None,
    agent: Literal["claude", "embedded"],
    claude_bin: str,
    jobs: int | None,
    repair: Literal["off", "suggest"],
    artifacts: Path,
    ledger_file: Path | None,
    output: Path | None,
    allow_unchecked: bool,
    with_sarif: tuple[Path, ...],
    fresh: bool,
    form: ReportFormat,
    as_json: bool,
    explain: bool,
    quiet: bool,
    untracked: bool,
    config_file: Path | None,
    profile: Literal["adr", "hydraflow"] | None,
    escalation: Literal["adr", "attrition", "harness"] | None,
    consult: bool,
    gate: bool,
) -> None:
    """Review a change: pre-flight plans, the executor reviews, post-verify judges.

    Name the change with one of --range, --base, --staged, --patch and --pr. Without one, it is your branch since the
    default one, with uncommitted edits of tracked files. Progress goes to stderr, the result to stdout, everything else
    into a folder of its own. A pull request is read with GITHUB_TOKEN; its commits are fetched, never checked out, and
    nothing is written on GitHub.
    """
    with told_beside(output if pr is not None else None), clear_refusals():
        from review_advisor.app.change_source import Selection
        from review_advisor.app.doctor import AgentChoice
        from review_advisor.app.review import ReviewOptions

        chosen = _only(
            Selection("range", revisions) if revisions is not None else None,
            Selection("base", base) if base is not None else None,
            Selection("staged") if staged else None,
            Selection("patch", str(patch)) if patch is not None else None,
            Selection("pull_request", pr, head or "", memory or "", settle) if pr is not None else None,
        )
        if untracked and chosen is not None:
            raise click.UsageError("--untracked adds files of the working tree: leave out the range.")
        if head is not None and pr is None:
            raise click.UsageError("--head needs --pr: it names the head of a pull request.")
        if memory is not None and pr is None:
            raise click.UsageError("--memory needs --pr: it tells what is remembered of a pull request.")
        if settle and pr is None:
            raise click.UsageError("--settle needs --pr: it waits for pushes to a pull request.")
        if with_sarif and agent != "claude":
            raise click.UsageError("--with-sarif needs --agent claude: it is shown to models.")
        if allow_unchecked and agent != "embedded":
            raise click.UsageError("--allow-unchecked needs --agent embedded: it is about static checks.")

        options = ReviewOptions(
            repo=repo,
            selection=chosen or Selection("working_tree", "untracked" if untracked else ""),
            agent=AgentChoice(agent, claude_bin),
            jobs=jobs,
            artifacts=artifacts,
            output=output,
            config=config_file,
            profile=profile,
            title=title,
            body_file=body_file,
            spec_file=spec_file,
            repair=repair,
            ledger=ledger_file,
            fresh=fresh,
            allow_unchecked=allow_unchecked,
            with_sarif=with_sarif,
            most_usd=most_usd,
            escalation=escalation,
            consult=consult,
        )
        if as_json and form not in ("text", "json"):
            raise click.UsageError(f"--json and --format {form} are two formats: name one.")
        shown = Shown("json" if as_json else form, explain=explain, quiet=quiet, gate=gate)
        performed = perform(options, shown)
    context.exit(performed.code)


def _only(*selections: Selection | None) -> Selection | None:
    given = [each for each in selections if each is not None]
    if len(given) > 1:
        raise click.UsageError("Name one change: --range, --base, --staged, --patch and --pr exclude one another.")
    return given[0] if given else None


class Shown(NamedTuple):
    """How the result is printed, and what else is."""

    form: ReportFormat = "text"
    explain: bool = False
    quiet: bool = False
    gate: bool = False


class Performed(NamedTuple):
    """A review that was run and printed: the command's exit code, and what was stored in which folder."""

    code: int
    document: OutcomeDocument
    folder: Path


def perform(options: ReviewOptions, shown: Shown) -> Performed:
    """Run the review with progress on stderr, and print its result on stdout."""
    from review_advisor.app.review import run_review
    from review_advisor.cli.terminal.progress import progress
    from review_advisor.core.outcome.outcomes import Outcome

    embedded = options.agent.agent == "embedded"
    with progress(quiet=shown.quiet or shown.gate, embedded=embedded) as show:
        stored = run_review(options, os.environ, show.event, show.warning, show.remark)
    document = stored.document
    put(_result(document, shown, stored.finding_notes), otherwise=NOT_TO_ITS_END)
    if not (shown.quiet or (shown.gate and document.exit_code == 0)):
        if stored.answered_from is not None:
            when = f"{stored.answered_from.at:%H:%M} UTC ({stored.answered_from.run_id})"
            note(f"Answered from the review that ended at {when}: nothing was paid. --fresh asks again.")
        note(f"Artefacts: {stored.folder}")
    if stored.interrupted_by:
        is_stopped = document.outcome is Outcome.STOPPED
        note("Interrupted: the review did not run to its end." if is_stopped else "Interrupted.")
        return Performed(128 + stored.interrupted_by, document, stored.folder)
    return Performed(document.exit_code, document, stored.folder)


def _result(document: OutcomeDocument, shown: Shown, notes: Mapping[str, str]) -> str | bytes:
    """What goes to stdout. JSON is UTF-8 whatever the terminal's letters are."""
    match shown.form:
        case "json":
            from review_advisor.core.outcome.document import outcome_json

            return outcome_json(document).encode("utf-8", "backslashreplace")
        case "sarif":
            from review_advisor import __version__
            from review_advisor.core.forge_text.sarif import sarif_json

            return sarif_json(document, __version__).encode("utf-8", "backslashreplace")
        case "markdown":
            from review_advisor.core.forge_text.job_summary import job_summary

            return job_summary(document)
        case "github":
            from review_advisor.core.forge_text.log_lines import log_lines

            return "".join(f"{line}\n" for line in log_lines(document))
        case "text":
            return _text(document, shown, notes)
        case _:
            assert_never(shown.form)


def _text(document: OutcomeDocument, shown: Shown, notes: Mapping[str, str]) -> str:
    from review_advisor.cli.terminal.colour import coloured, is_coloured
    from review_advisor.core.report.report_text import headline
    from review_advisor.core.report.terminal_report import terminal_report

    if shown.gate and document.exit_code == 0:
        return headline(document) + "\n"
    report = terminal_report(document, explain=shown.explain, notes=notes)
    return coloured(report, document.outcome) if is_coloured() else report
