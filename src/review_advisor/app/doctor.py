"""`doctor`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from review_advisor.agents.calls import CliError
from review_advisor.agents.claude import PINNED_VERSION, locate
from review_advisor.agents.claude_argv import EVERY_TOOL
from review_advisor.app.agent_choice import Diagnosis, repository_top
from review_advisor.app.configuration import examine_mode, examine_recordings, working_config
from review_advisor.app.options import AS_JSON, LEDGER, REPO, artifacts_option
from review_advisor.app.rollup import roll_up, roll_up_advice
from review_advisor.app.terminal import clear_refusals, plain, put
from review_advisor.change.git import checkout_around
from review_advisor.change.redaction import redactor, unrecognised
from review_advisor.lab.calibration import FEWEST_OF_THRESHOLD
from review_advisor.ledger.kind_records import FEWEST_OF_CELL, KINDS_FILE, parse_kind_records
from review_advisor.ledger.kpis import fitness
from review_advisor.ledger.queries import Period
from review_advisor.policy.escalation_rules import FIRST_THRESHOLD, PROFILES
from review_advisor.policy.settings import Config, ConfigError
from review_advisor.policy.surfaces import REVIEW_SURFACES, SURFACE_DEFAULTS, Authority, Role
from review_advisor.policy.switches import FAIL_AS_VETO, SwitchError, Switches, read_switches
from review_advisor.policy.thresholds import THRESHOLDS_FILE, parse_threshold_file
from review_advisor.safety.files import LARGEST, UserFileError, read_user_file
from review_advisor.safety.wording import counted, printable_line


def examine_workflow(repo: Path) -> tuple[Diagnosis, ...]:
    """Whether the workflow in a working tree is the one that this version writes; nothing if there is none."""
    from review_advisor.app.init import WORKFLOW_FILE, drift

    path = repository_top(repo) / WORKFLOW_FILE
    if not path.is_file():
        return ()
    try:
        found = drift(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        return (Diagnosis("github", "workflow", False, f"{WORKFLOW_FILE} cannot be read: {error.strerror}."),)
    if found is None:
        return (Diagnosis("github", "workflow", True, f"{WORKFLOW_FILE} is the one that `init` writes"),)
    says = (
        f"{WORKFLOW_FILE} is not what this version of `init` writes ({found}). Move it away and run `init` to compare."
    )
    return (Diagnosis("github", "workflow", False, says),)


FAILED = 3
"""The exit code where a check of --fit or --security fails."""


@click.command()
@click.option("--claude-bin", default="", metavar="PATH", help="The claude binary (default: from PATH).")
@REPO
@artifacts_option("Where recordings lie.")
@click.option("--github", "repository", metavar="OWNER/NAME", help="Also ask GitHub about this repository's gate.")
@click.option("--fit", is_flag=True, help="Say instead whether the advisor pays here, by the ledger.")
@click.option("--security", is_flag=True, help="Say instead what weakens the bot here, with a remedy for each.")
@LEDGER
@AS_JSON
@click.pass_context
def doctor(
    context: click.Context,
    claude_bin: str,
    repo: Path,
    artifacts: Path,
    repository: str | None,
    fit: bool,
    security: bool,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Say whether git, the claude CLI, its credential and the embedded agent are ready.

    It also names the committed files of your own rules, the advisors that the working tree declares, and the lines in
    which the workflow differs from the one that `init` writes; with --github, what the token in GITHUB_TOKEN may do
    there, whether the check is required, and who could forge it. Exit code 0 if at least one agent can review here,
    else 2.

    With --fit or --security, only those checks run. Exit code 3 if one of them fails, else 0.
    """
    if fit or security:
        context.exit(_examine(claude_bin, repo, artifacts, ledger_file if fit else None, security, as_json=as_json))
    with clear_refusals():
        from review_advisor.app.agent_choice import examine, examine_github, ready
        from review_advisor.app.configuration import (
            examine_mode,
            examine_recordings,
            examine_roster,
            examine_rules,
            publication_rules,
            working_config,
        )

        checks = [*examine(os.environ, claude_bin, repo), *examine_workflow(repo)]
        checks += examine_mode(repo)
        checks += examine_rules(repo)
        checks += examine_roster(repo)
        checks += examine_calibration(repo, datetime.now(UTC).date())
        checks += examine_recordings(repo, Path.cwd() / artifacts)
        if repository is not None:
            config, _ = working_config(repo)
            checks += examine_github(repository, publication_rules(config), os.environ)
    agents = ready(checks)
    if as_json:
        put(json.dumps({"ready": agents, "checks": _json(checks)}, indent=2) + "\n")
    else:
        put("\n".join([*map(_row, checks), "", f"Agents that can review here: {', '.join(agents) or 'none'}"]) + "\n")
    context.exit(0 if agents else 2)


def _examine(
    claude_bin: str, repo: Path, artifacts: Path, ledger: Path | None, security: bool, *, as_json: bool
) -> int:
    checks: list[Diagnosis] = []
    with clear_refusals():
        if ledger is not None:
            checks += examine_fit(ledger, datetime.now(UTC))
        if security:
            checks += examine_security(repo, Path.cwd() / artifacts, os.environ, claude_bin)
    put(json.dumps({"checks": _json(checks)}, indent=2) + "\n" if as_json else "".join(f"{_row(c)}\n" for c in checks))
    return 0 if all(check.ok is not False for check in checks) else FAILED


def _json(checks: Sequence[Diagnosis]) -> list[dict[str, Any]]:
    return [{"for": c.agent, "name": c.name, "ok": c.ok, "says": c.says} for c in checks]


def _row(check: Diagnosis) -> str:
    failed = "MISSING" if check.agent in ("claude", "embedded", "both") else "ADVICE"
    word = "-" if check.ok is None else "ok" if check.ok else failed
    return f"{word:<7}  {check.agent:<9} {check.name:<14} {plain(check.says)}"


MOST_DAYS = 90
"""A calibration that is older tells of other models, prompts and code than those of today."""


_MOST_TOLD = 3


Sample = tuple[str, int]
"""What was calibrated, and on how many labels."""


def examine_calibration(repo: Path, today: date) -> tuple[Diagnosis, ...]:
    """A warning for each file that is old, that rests on few labels, or that cannot be used.

    Without files, one where the review itself consults by a threshold that nobody calibrated; else nothing.
    """
    top = repository_top(repo)
    return (
        *_uncalibrated(repo, top),
        *_examined(top, THRESHOLDS_FILE, _thresholds, today),
        *_examined(top, KINDS_FILE, _kinds, today),
    )


def _uncalibrated(repo: Path, top: Path) -> Iterator[Diagnosis]:
    with suppress(ConfigError):  # it is told as a mistake of the configuration
        profile = working_config(repo)[0].escalation.profile
        if PROFILES[profile] is not None and not (top / THRESHOLDS_FILE).is_file():
            yield _advice(
                f'escalation.profile is "{profile}", and no threshold was calibrated: {FIRST_THRESHOLD} holds for every'
                " finding. Run `review-advisor calibrate --propose` once people have judged findings."
            )


def _thresholds(text: str) -> tuple[date | None, list[Sample], int]:
    file = parse_threshold_file(text)
    return file.made, [(e.words, e.labels) for e in file.threshold if e.labels is not None], FEWEST_OF_THRESHOLD


def _kinds(text: str) -> tuple[date | None, list[Sample], int]:
    file = parse_kind_records(text)
    return file.made, [(e.kind.words, e.labels) for e in file.records], FEWEST_OF_CELL


def _examined(
    top: Path, name: str, parse: Callable[[str], tuple[date | None, list[Sample], int]], today: date
) -> Iterator[Diagnosis]:
    if not (top / name).is_file():
        return
    try:
        made, samples, fewest = parse(read_user_file(top / name, LARGEST).decode())
    except UnicodeDecodeError:
        yield _advice(f"{name} is not UTF-8 text.")
        return
    except UserFileError as problem:
        yield _advice(f"{name} cannot be read: {problem}.")
        return
    except ValueError as problem:
        yield _advice(printable_line(str(problem)))
        return
    warnings = [*_age(name, made, samples, today), *_few(name, samples, fewest)]
    yield from map(_advice, warnings)
    if not warnings:
        says = "no calibration is behind it" if made is None else f"of {made.isoformat()}"
        yield Diagnosis("rules", "calibration", True, f"{name}: {says}")


def _age(name: str, made: date | None, samples: Iterable[Sample], today: date) -> Iterator[str]:
    if made is None:
        if any(samples):
            yield f"{name} does not say when its calibration was made: add `made`, or calibrate again."
    elif made > today:
        yield f"{name} rests on a calibration of {made.isoformat()}, which is still to come: correct `made`."
    elif (today - made).days > MOST_DAYS:
        yield (
            f"{name} rests on a calibration of {made.isoformat()}, {(today - made).days} days ago; models and prompts"
            " change sooner. Run `review-advisor calibrate --propose` again."
        )


def _few(name: str, samples: Iterable[Sample], fewest: int) -> Iterator[str]:
    few = [f"{words}: {counted(labels, 'label')}" for words, labels in samples if labels < fewest]
    if few:
        more = f", and {len(few) - _MOST_TOLD} more" if len(few) > _MOST_TOLD else ""
        told = printable_line("; ".join(few[:_MOST_TOLD]))
        yield f"{name} rests on fewer than {fewest} labels in places ({told}{more}). Observe more pull requests first."


def _advice(says: str) -> Diagnosis:
    return Diagnosis("rules", "calibration", False, says)


DAYS = 90
"""Older reviews say little about today's models and changes."""


def examine_fit(ledger: Path, now: datetime) -> tuple[Diagnosis, ...]:
    """Each condition under which advice pays, by the reviews of the three months before ``now``.

    Raises ``LedgerError``.
    """
    period = Period(now - timedelta(days=DAYS), now)
    told = fitness(roll_up(ledger, period).sums, roll_up_advice(ledger, period).ratings)
    return tuple(
        Diagnosis(
            "fit",
            each.name,
            each.holds,
            f"{each.says}{f'; {each.remedy}' if each.holds is False else ''}.",
        )
        for each in told
    )


READING, EDITING, ADVICE = {"Read", "Grep", "Glob"}, {"Edit", "Write"}, {"Agent"}


def examine_security(
    repo: Path, artifacts: Path, environ: Mapping[str, str], claude_bin: str = ""
) -> tuple[Diagnosis, ...]:
    """Every check, those of the setup first. None of them asks a model or the network."""
    return (
        _tools(),
        _cli(repo, environ, claude_bin),
        *_secrets(environ),
        *_configured(repo, environ),
        *examine_mode(repo),
        *examine_recordings(repo, artifacts),
        *examine_workflow(repo),
    )


def _tools() -> Diagnosis:
    beyond = sorted(EVERY_TOOL - READING - EDITING - ADVICE)
    says = f"models may use {', '.join(sorted(EVERY_TOOL))}: no shell and no web; editing only in a throw-away copy"
    if beyond:
        says = f"models may use {', '.join(beyond)}: install the released package"
    return _check("tools", says, ok=not beyond)


def _cli(repo: Path, environ: Mapping[str, str], claude_bin: str) -> Diagnosis:
    try:
        cli = locate(claude_bin, environ, checkout_around(repo))
    except CliError as problem:
        return _check("claude CLI", str(problem), ok=False)
    if cli.tested:
        return _check("claude CLI", f"version {cli.version}, whose restrictions were measured", ok=True)
    return _check(
        "claude CLI",
        f"version {cli.version}: its restrictions were measured with {PINNED_VERSION}, so install that one",
        ok=False,
    )


def _secrets(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    weak = unrecognised(environ)
    if weak:
        yield _check(
            "secrets",
            f"the values of {', '.join(weak)} look like words and are not removed from texts: use long random secrets",
            ok=False,
        )
        return
    known = redactor(environ).own is not None
    yield _check(
        "secrets", "every secret of this environment is removed from texts" if known else "none is set", ok=True
    )


def _configured(repo: Path, environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    try:
        config, _ = working_config(repo)
        switches = read_switches(environ)
    except (ConfigError, SwitchError) as problem:
        yield _check("settings", str(problem), ok=False)
        return
    yield _judgement(switches)
    yield _outage(config, switches)
    yield _own_work(config)
    yield _money(config)
    yield _bases(config)


def _judgement(switches: Switches) -> Diagnosis:
    deciding = (each for each in REVIEW_SURFACES if SURFACE_DEFAULTS[each].authority is Authority.VETO)
    off = next(filter(None, (switches.disabled_by(Role.POST_VERIFY, surface) for surface in deciding)), None)
    if off:
        return _check("judgement", f"{off} is off, so no advisor judges some verdicts: remove the variable", ok=False)
    return _check("judgement", "an advisor judges every verdict", ok=True)


def _outage(config: Config, switches: Switches) -> Diagnosis:
    if switches.fail_as_veto or config.fail_on == "degraded":
        return _check("outage", "a judgement that an outage took calls a person", ok=True)
    return _check(
        "outage",
        f'after an outage of the judge the executor\'s verdict stands: set {FAIL_AS_VETO}, or fail_on = "degraded"',
        ok=False,
    )


def _own_work(config: Config) -> Diagnosis:
    who = config.github.self_settle
    if who == "never":
        return _check("own work", "nobody settles the review of their own work", ok=True)
    return _check("own work", f'{who} may settle reviews of their own work: set github.self_settle = "never"', ok=False)


def _money(config: Config) -> Diagnosis:
    bound = config.github.repository_day_usd
    if bound is None:
        return _check("money", "nothing warns of what reviews cost a day: set github.repository_day_usd", ok=None)
    return _check(
        "money", f"a warning comes at {bound:,.2f} USD a day, and stops no review (github.repository_day_usd)", ok=True
    )


def _bases(config: Config) -> Diagnosis:
    trusted = config.github.trusted_bases
    if not trusted:
        return _check("bases", "only the default branch says how pull requests are reviewed", ok=True)
    return _check(
        "bases",
        f"not measured: whoever may push to {', '.join(trusted)} says how reviews run; see `doctor --github`",
        ok=None,
    )


def _check(name: str, says: str, *, ok: bool | None) -> Diagnosis:
    return Diagnosis("security", name, ok, says if says.endswith(".") else f"{says}.")
