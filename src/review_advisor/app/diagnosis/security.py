"""``doctor --security``: what of this machine's and this repository's setup weakens the bot, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from review_advisor.adapters.claude.argv import EVERY_TOOL
from review_advisor.adapters.claude.locate import PINNED_VERSION, locate
from review_advisor.adapters.git.run import checkout_around
from review_advisor.app.applicable_rules import examine_mode
from review_advisor.app.configuration import working_config
from review_advisor.app.diagnosis.recordings import examine_recordings
from review_advisor.app.doctor import Diagnosis, examine_workflow
from review_advisor.app.settings import Config, ConfigError
from review_advisor.core.policy.surfaces import REVIEW_SURFACES, SURFACE_DEFAULTS, Authority, Role
from review_advisor.core.policy.switches import (
    FAIL_AS_VETO,
    SwitchError,
    Switches,
    read_switches,
)
from review_advisor.core.safety.redaction import redactor, unrecognised
from review_advisor.ports.review import CliError

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
    bound = config.github.author_day_usd
    if bound is None:
        return _check("money", "what one author costs a day is not bounded: set github.author_day_usd", ok=None)
    return _check("money", f"pushes of one author may cost {bound:,.2f} USD a day (github.author_day_usd)", ok=True)


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
