"""Print into the docs what the code says: every table between ``<!-- table:NAME -->`` and ``<!-- /table:NAME -->``.

Without an argument it compares and exits 1 when a table is stale; ``--write`` puts the present ones in.
"""

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.agents.calls import LOSSES, Cause, LostReason
from review_advisor.agents.claude import PINNED_VERSION
from review_advisor.agents.claude_argv import child_environment
from review_advisor.app.main import USAGE
from review_advisor.change.kinds import OWN_IMPLEMENTATION_ANYWHERE, OWN_IMPLEMENTATION_HERE
from review_advisor.change.risky_code import RISKY_CODE
from review_advisor.github.threads import LOUDNESS
from review_advisor.ledger.kpis import RULES, Sums, kpis
from review_advisor.ledger.task_events import EXIT_CODES as RUN_EXIT_CODES
from review_advisor.ledger.task_events import STATUS_WORDS
from review_advisor.ledger.telemetry import LONGEST_SECONDS, METRICS, SECONDS_BUCKETS
from review_advisor.mockworld.agents import Line, approve, authentication_gone, credit_gone, lost, model_unknown, plan
from review_advisor.mockworld.seeds import PLACES
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.story import FAULTS, Story
from review_advisor.mockworld.trace import flags_of
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.budgets import (
    RETRIES_BY_BLAST,
    USD_FOR_1_000_TOKENS,
    USD_FOR_EACH_PART,
    surface_retry_budget,
)
from review_advisor.policy.policy import Rules
from review_advisor.policy.risk import MANY_CODE_LINES, MEDIUM_ABOVE_LINES, BlastRadius, CompositeTrigger, TriggerFacts
from review_advisor.policy.settings import CRITICAL_PATHS, Config
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, Authority, Role
from review_advisor.policy.switches import MASTER, NO, ROLE_SWITCHES, YES, SwitchError, read_switches
from review_advisor.review.rulings import EXIT_CODES, Move, Outcome, Standing, Verdict, rule
from review_advisor.safety.secret_issuers import FORMATS
from review_advisor.safety.wording import counted

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "review_advisor"
BLOCK = re.compile(r"(<!-- table:([a-z-]+) -->\n).*?(<!-- /table:\2 -->)", re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADER_ALONE = re.compile(r"^(\|.*)\n\|[ :|-]+\|[ ]*$(?!\n\|)", re.MULTILINE)
NONSENSE = "two words"


class Remembering(dict[str, str]):
    """An environment that keeps the names it was asked for, in order."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        super().__init__(values or {})
        self.asked: dict[str, None] = {}

    def get(self, key: str, default: Any = None) -> Any:
        """Remember, then answer."""
        self.asked[key] = None
        return super().get(key, default)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(words: object) -> str:
    """In backticks, or a dash for nothing."""
    return f"`{words}`" if str(words) else "-"


# --- surfaces, budgets -------------------------------------------------------------------------------------------


def surfaces() -> str:
    """The surface table, with the retries that each blast radius really gives."""
    rows = []
    for surface, row in SURFACE_DEFAULTS.items():
        budgets = [surface_retry_budget(surface, blast, row.authority) for blast in BlastRadius]
        counts = ", ".join(f"{blast.value} {count}" for blast, count in zip(BlastRadius, budgets, strict=True))
        retries = f"{row.retries}: {counts}" if any(budgets) else row.retries
        middle = "yes" if row.mid_flight else "no"
        pre_flight = row.pre_flight.value
        repair = "yes" if row.repair else "no"
        rows.append([code(surface.value), row.applies_when, pre_flight, middle, row.authority.value, retries, repair])
    header = ["surface", "applies when", "pre-flight", "mid-flight", "authority", "retries", "repair"]
    return table(header, rows)


def blasts() -> str:
    """What each blast radius means and gives."""
    when = {
        BlastRadius.LOW: "everything else",
        BlastRadius.MEDIUM: f"more than {MEDIUM_ABOVE_LINES} changed lines of code, or code that "
        + "; ".join(RISKY_CODE),
        BlastRadius.HIGH: "a critical path on either side of the change, or the bot's own implementation",
    }
    attempt = f"times (${USD_FOR_EACH_PART:.2f} a part + ${USD_FOR_1_000_TOKENS:g} per 1,000 tokens)"
    rows = [
        [blast.value, when[blast], str(RETRIES_BY_BLAST[blast]), str(1 + RETRIES_BY_BLAST[blast])]
        for blast in BlastRadius
    ]
    return table(["blast radius", "when", "retries after a veto", f"money, {attempt}"], rows)


def triggers() -> str:
    """What the composite trigger says to facts around its edge."""
    edge = MANY_CODE_LINES
    cases = {
        f"{edge} changed lines of code": TriggerFacts(False, 0, (), edge),
        f"{edge + 1} changed lines of code": TriggerFacts(False, 0, (), edge + 1),
        "a critical path": TriggerFacts(False, 0, ("auth/login.py",), 1),
        "an earlier fix attempt": TriggerFacts(False, 1, (), 1),
        "a file of the bot": TriggerFacts(False, 0, (), 1, ("CLAUDE.md",)),
        "forced": TriggerFacts(True, 0, (), 1),
    }
    decided = {words: CompositeTrigger().decide(facts) for words, facts in cases.items()}
    rows = [[words, "yes" if it.fires else "no", "; ".join(it.because)] for words, it in decided.items()]
    return table(["the change has", "planned", "because"], rows)


# --- rulings ---------------------------------------------------------------------------------------------------------


def verdicts() -> str:
    """What each post-verify verdict leads to, found by asking ``rule`` until it stops saying retry."""
    rows = []
    for executor in ("approve", "reject"):
        for said in ("APPROVE", "VETO"):
            cells = [
                "; ".join(dict.fromkeys(_course(executor, said, Authority.VETO, n) for n in RETRIES_BY_BLAST.values())),
                _course(executor, said, Authority.VETO, 0),
                _course(executor, said, Authority.ADVISORY, 0),
            ]
            rows.append([executor, said, *cells])
    header = ["executor", "post-verify", "veto, blast 1/2/3", "veto, one shot", "advisory"]
    return table(header, rows)


def _course(executor: Verdict, said: str, authority: Authority, budget: int) -> str:
    answer = PostVerifyResult.model_validate({"verdict": said, "reasoning": "a reason"})
    retries = 0
    while True:
        again = retries if executor == "reject" else 0
        ruling = rule(Standing(executor, authority, False, False, budget, retries, again), answer)
        if ruling.move is not Move.RETRY:
            break
        retries += 1
    end = f"{ruling.move.value} the {'approval' if executor == 'approve' else 'rejection'}"
    end = "escalate" if ruling.move is Move.ESCALATE else end
    return f"{retries} {'retry' if retries == 1 else 'retries'}, then {end}" if retries else end


def lost_answers() -> str:
    """What a missing answer leads to, found by playing it in MockWorld."""
    money = Rules().max_usd
    asking = approve().after_asking("Is this right?")
    stories: dict[str, tuple[tuple[Role, Line], ...]] = {
        "pre-flight lost": ((Role.PRE_FLIGHT, lost()),),
        "mid-flight lost": ((Role.EXECUTOR, asking), (Role.MID_FLIGHT, lost())),
        "executor lost": ((Role.EXECUTOR, lost()),),
        "executor refused by a cap": ((Role.PRE_FLIGHT, plan().costing(money)),),
        "post-verify lost, an outage": ((Role.POST_VERIFY, lost(LostReason.SERVER_ERROR)),),
        "post-verify lost, a rate limit": ((Role.POST_VERIFY, lost(LostReason.RATE_LIMITED)),),
        "post-verify lost, perhaps by the content": ((Role.POST_VERIFY, lost(LostReason.MODEL_REFUSED)),),
        "post-verify unusable, but it says VETO": ((Role.POST_VERIFY, Line({"verdict": "veto"})),),
        "post-verify refused by a cap": ((Role.EXECUTOR, approve().costing(money)),),
        "post-verify switched off": (),
    }
    stops = {
        "credit exhausted": credit_gone(),
        "authentication failed": authentication_gone(),
        "model unknown": model_unknown(),
    }
    for words, line in stops.items():
        for role in (Role.PRE_FLIGHT, Role.EXECUTOR, Role.POST_VERIFY):
            stories[f"{words} in {role.value.replace('_', '-')}"] = ((role, line),)
        stories[f"{words} in mid-flight"] = ((Role.EXECUTOR, asking), (Role.MID_FLIGHT, line))
    rows = []
    for story, lines in stories.items():
        off = ROLE_SWITCHES[Role.POST_VERIFY] if "switched off" in story else None
        cells = [_played(lines, off), _played(lines, off, fail_as_veto=True), _played(lines, off, guarded=True)]
        rows.append([story, *cells])
    return table(["what is missing", "by default", "with FAIL_AS_VETO", "while the guard holds"], list(_joined(rows)))


MAY_THE_AUTHOR = {
    Cause.OUTAGE: "no: an outage",
    Cause.RATE_LIMIT: "yes, by the size and number of pull requests",
    Cause.CONTENT: "yes, by the content of the change",
}


def losses() -> str:
    """Every reason for which an answer can be lost, and whether the author of the change may be the cause."""
    rows = [[code(reason.value), loss.words, MAY_THE_AUTHOR[loss.cause]] for reason, loss in LOSSES.items()]
    return table(["reason", "what happened", "may the author be the cause"], rows)


def _joined(rows: list[list[str]]) -> Iterator[list[str]]:
    """Rows of one kind that differ in the role only become one: ``X in any role``."""
    kinds: dict[str, list[list[str]]] = {}
    for row in rows:
        kinds.setdefault(row[0].partition(" in ")[0], []).append(row)
    for kind, its in kinds.items():
        same = len({tuple(row[1:]) for row in its}) == 1
        yield from [[f"{kind} in any role", *its[0][1:]]] if same and len(its) > 1 else its


def _played(
    lines: Sequence[tuple[Role, Line]], off: str | None, *, fail_as_veto: bool = False, guarded: bool = False
) -> str:
    world = MockWorld()
    for role, line in lines:
        world.agents.script(role, line)
    if off:
        world.switch(off, "no")
    if fail_as_veto:
        world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "yes")
    if guarded:
        world.change(edited("src/app.py"), edited(".claude/agents/reviewer.md", 3))
    document = world.review()
    world.finish()
    flags = ", degraded" if document.flags.degraded else ""
    flags += ", advisor disabled" if document.flags.advisor_disabled else ""
    return f"{document.outcome.value}{flags} ({document.exit_code})"


# --- settings --------------------------------------------------------------------------------------------------------

MEANINGS = (
    (rf"{MASTER}", "all advisor roles"),
    (r"HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED", "pre-flight"),
    (r"HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED", "mid-flight consults"),
    (r"HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED", "post-verify"),
    (r"HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "a lost post-verify escalates instead of passing as degraded"),
    (r"HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "pr_review's trigger always fires"),
    (r"HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "consults of one review, in all surfaces and attempts"),
    (r"HYDRAFLOW_REVIEW_(ADVISOR|EXECUTOR)_MODEL", "the {0}'s model"),
    (r"HYDRAFLOW_\w+_ADVISOR_ENABLED", "all advisor roles on that surface; of `adr_review` the executor too"),
    (r"HYDRAFLOW_\w+_(ADVISOR|EXECUTOR)_MODEL", "the {0}'s model on that surface"),
)


def switches() -> str:
    """Every variable that ``read_switches`` asks for; each is proven to be read, by refusing nonsense."""
    environment = Remembering()
    read_switches(environment)
    words_of_switch = f"one of {', '.join(YES)} or {', '.join(NO)}"
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(environment.asked, key=_place):
        try:
            read_switches({name: NONSENSE})
        except SwitchError as refusal:
            accepted = str(refusal).partition(": ")[2].rstrip(".").removeprefix("use ")
        else:
            raise AssertionError(f"{name} takes any value")
        told_below = accepted == words_of_switch or accepted.startswith("a model's name")
        meaning = _meaning(name) if told_below else f"{_meaning(name)}: {accepted}"
        rows.setdefault((meaning, _default(name)), []).append(code(name))
    grouped = [[", ".join(names), *rest] for rest, names in rows.items()]
    printed = table(["variable", "what it governs", "default"], grouped)
    said = f"On is {', '.join(map(code, YES))}; off is {', '.join(map(code, NO))}. A model is a name or an alias."
    return f"{printed}\n\n{said}"


def _place(name: str) -> int:
    return next(at for at, (pattern, _) in enumerate(MEANINGS) if re.fullmatch(pattern, name))


def _meaning(name: str) -> str:
    pattern, words = MEANINGS[_place(name)]
    found = re.fullmatch(pattern, name)
    return words.format(*(group.lower() for group in found.groups())) if found else ""


def _default(name: str) -> str:
    """The value that may be set without changing anything."""
    unset = read_switches({})
    for value in ("yes", "no", "opus", "sonnet", *map(str, range(21))):
        try:
            if read_switches({name: value}) == unset:
                return {"yes": "on", "no": "off"}.get(value, value)
        except SwitchError:
            continue
    raise AssertionError(f"{name} has no default that can be said")


def config() -> str:
    """The configuration file's keys, from its schema."""
    schema = Config.model_json_schema()
    return table(["key", "value", "default", "meaning"], list(_keys(schema, schema, "")))


def volume() -> str:
    """What each volume posts."""
    rows = [
        [code(name), *(f"{severity} and worse" for severity in loud.inline_from[:2]), "what blocks", str(loud.most)]
        for name, loud in LOUDNESS.items()
    ]
    return table(
        ["volume", "first review, new lines", "second review", "later, unchanged lines", "comments at a time"], rows
    )


def _keys(schema: dict[str, Any], part: dict[str, Any], prefix: str) -> Iterator[list[str]]:
    for name, field in part["properties"].items():
        if "$ref" in field:
            inner = schema["$defs"][field["$ref"].rpartition("/")[2]]
            yield from _keys(schema, inner, f"{prefix}{name}.")
            continue
        default = field.get("default")
        shown = code(_toml(default)) if default is not None else "the profile's" if name == "critical_paths" else "none"
        meaning = " ".join(field["description"].replace("``", "`").split())
        yield [code(f"{prefix}{name}"), _kind(field), shown, meaning]


def _toml(value: object) -> str:
    if value == {}:
        return "{}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _kind(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return _kind(next(option for option in field["anyOf"] if option["type"] != "null"))
    if "enum" in field:
        return ", ".join(f"`{_toml(option)}`" for option in field["enum"])
    if field["type"] == "array":
        return "tables" if "$ref" in field["items"] else "strings"
    if field["type"] == "object":
        return f"table: {_kind(field['additionalProperties'])}"
    words: str = field["type"]
    low, above, high = field.get("minimum"), field.get("exclusiveMinimum"), field.get("maximum")
    if high is None:
        return words
    return words + (f", {low:,.15g} to {high:,.15g}" if low is not None else f", above {above:g} to {high:,.15g}")


def credentials() -> str:
    """What of the caller's environment reaches ``claude``: the names that the allow-list asks for."""
    ways = {
        "Anthropic's API": {},
        "Bedrock": {"CLAUDE_CODE_USE_BEDROCK": "1"},
        "Vertex": {"CLAUDE_CODE_USE_VERTEX": "1"},
    }
    asked = {way: list(_asked_for(values)) for way, values in ways.items()}
    everywhere = [name for name in asked["Bedrock"] if all(name in names for names in asked.values())]
    rows = [[way, ", ".join(code(name) for name in names if name not in everywhere)] for way, names in asked.items()]
    return table(["way to the model", "passed on"], [*rows, ["all", ", ".join(map(code, everywhere))]])


def _asked_for(values: Mapping[str, str]) -> dict[str, None]:
    environment = Remembering(values)
    child_environment(environment, Path("home"), Path("config"), Path("tmp"))
    return environment.asked


def critical_paths() -> str:
    """The default critical paths of each profile."""
    rows = [
        [code(profile), ", ".join(map(code, paths.globs or paths.names)), ", ".join(map(code, paths.words)) or "none"]
        for profile, paths in CRITICAL_PATHS.items()
    ]
    return table(["profile", "critical paths", "critical words in a path"], rows)


_CI_WATCHED = (
    "the workflow that runs the bot, and what it calls; any that is added, may write checks, statuses or contents, or"
    " names the bot's check or secrets"
)


def own_implementation() -> str:
    """What the self-modification guard watches."""
    rows = [
        [
            "every repository",
            ", ".join(map(code, OWN_IMPLEMENTATION_ANYWHERE))
            + ", the file of the configuration, the files of your own rules",
        ],
        ["CI of every repository", _CI_WATCHED],
        ["the bot's own repository, besides", ", ".join(map(code, OWN_IMPLEMENTATION_HERE))],
    ]
    return table(["where", "watched"], rows)


def exits() -> str:
    """The exit codes."""
    meanings = {
        Outcome.APPROVED: "approved, or nothing to review because the change is empty",
        Outcome.CHANGES_REQUESTED: "changes requested",
        Outcome.ESCALATED: "escalated: a human decides",
        Outcome.STOPPED: "stopped: the review did not run to its end",
    }
    rows = [[str(EXIT_CODES[outcome]), words] for outcome, words in meanings.items()]
    usage = "usage or setup error: a missing range, CLI or credential, or an invalid setting"
    rows += [
        [str(USAGE), usage],
        ["129, 130, 143", "interrupted: by SIGHUP, Ctrl-C, SIGTERM"],
        ["1", "a bug"],
    ]
    return table(["exit code", "meaning"], rows)


def run_statuses() -> str:
    """How a task's run ends."""
    words = [[code(status), code(RUN_EXIT_CODES[status]), meaning] for status, meaning in STATUS_WORDS.items()]
    return table(("status", "exit", "when"), words)


def costs() -> str:
    """What a review costs, by size and end, as the benchmark has written it into its page."""
    figures = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    ends = "approved|vetoed once|vetoed 3"
    found = re.findall(rf"^\| ([\d,]+) lines, ({ends})[^|]* \| ([\d.]+) USD \|", figures, re.MULTILINE)
    usd = {(size, end): f"${value}" for size, end, value in found}
    sizes = dict.fromkeys(size for size, _ in usd)
    rows = [[size, *(usd[size, end] for end in ends.split("|"))] for size in sizes]
    return table(["changed lines", "approved at once", "one veto", "three vetoes (critical path)"], rows)


def install() -> str:
    """How to get the CLI that this was measured with."""
    return f"```sh\nnpm install --global @anthropic-ai/claude-code@{PINNED_VERSION}\n```"


# --- telemetry -------------------------------------------------------------------------------------------------------


def metrics() -> str:
    """The nine metrics as they are sent."""
    rows = [[code(each.name), each.kind, ", ".join(map(code, each.attributes)), each.description] for each in METRICS]
    return table(["metric", "kind", "attributes", "what it counts"], rows)


def buckets() -> str:
    """The upper bounds of the histogram's buckets."""
    return f"The histogram's buckets end at {', '.join(f'{bound:g}' for bound in SECONDS_BUCKETS)} seconds."


def kpi_targets() -> str:
    """The KPIs, and what each is held against."""
    rows = [[code(kpi.name), kpi.means, kpi.target.words(kpi.unit)] for kpi in kpis(Sums())]
    return table(["KPI", "what it is", "target"], rows)


def alert_rules() -> str:
    """The alerts: what each allows, its window, and how many cases or runs it needs."""
    found = {kpi.name: kpi for kpi in kpis(Sums())}
    rows = [
        [
            code(rule.name),
            code(rule.kpi),
            rule.allowed.words(found[rule.kpi].unit),
            f"{rule.window // timedelta(hours=1)} h",
            counted(rule.least, found[rule.kpi].case),
            rule.means,
        ]
        for rule in RULES
    ]
    return table(["alert", "KPI", "allowed", "window", "minimum", "what it means"], rows)


def telemetry_limit() -> str:
    """What telemetry may cost."""
    return f"{LONGEST_SECONDS:g} seconds at the end of a review at most, and one line on stderr."


# --- stories ---------------------------------------------------------------------------------------------------------


MOST_OPTIONS = 6


def story_steps() -> str:
    """What can happen in a story, and the keys that say how."""
    schema = Story.model_json_schema()["$defs"]
    rows = []
    for name, field in schema["StepBlock"]["properties"].items():
        reference = next((each["$ref"] for each in field["anyOf"] if "$ref" in each), "")
        block = schema.get(reference.rpartition("/")[2], {})
        keys = [_story_key(key, each) for key, each in block.get("properties", {}).items() if key != "expect"]
        shown = f": {', '.join(keys)}" if keys and name != "review" else ""
        rows.append([code(name), field["description"].rstrip(".") + shown])
    return table(["step", "what happens, and its keys"], rows)


def _story_key(key: str, field: dict[str, Any]) -> str:
    """A key, with its values where they are few."""
    options = [str(option) for option in field.get("enum", [field["const"]] if "const" in field else [])]
    return f"{code(key)} ({', '.join(options)})" if 0 < len(options) <= MOST_OPTIONS else code(key)


def story_faults() -> str:
    """What each fault of the vocabulary comes to when it strikes each role, found by playing it."""
    roles = ("pre_flight", "executor", "mid_flight", "post_verify")
    alike: dict[tuple[str, ...], list[str]] = {}
    for fault in FAULTS:
        alike.setdefault(tuple(_struck(role, fault) for role in roles), []).append(code(fault))
    return table(["fault", *map(code, roles)], [[", ".join(faults), *ends] for ends, faults in alike.items()])


def _struck(role: str, fault: str) -> str:
    if role == "mid_flight" and (role, fault) not in PLACES:
        return "-"
    review: dict[str, Any] = {role: [fault]}
    if role == "mid_flight":
        review["executor"] = [{"says": "approve", "asks": ["Is this right?"]}]
    (played,) = play(Story.model_validate({"story": fault, "steps": [{"review": review}]})).reviews
    return ", ".join([played.ended.replace("_", " "), *sorted(flags_of(played))])


# --- the code and the records themselves -----------------------------------------------------------------------------


def layers() -> str:
    """The layers of the import contract, top first, with what each module says of itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    order = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rows = [
        [str(number), code(name), _docstring(name)] for number, one in enumerate(order, 1) for name in one.split(" | ")
    ]
    return table(["layer", "module", "what it is"], rows)


def _docstring(module: str) -> str:
    path = PACKAGE / module / "__init__.py"
    source = path if path.exists() else PACKAGE / f"{module}.py"
    said = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return " ".join(said.split("\n\n")[0].split()).replace("``", "`").rstrip(".")


def records() -> str:
    """The decision records, from their own first lines."""
    rows = []
    for path in sorted((ROOT / "docs" / "adr").glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        status = re.search(r"^- Status: (.+)$", text, re.MULTILINE)
        rows.append([f"[{title}]({path.name})", status[1] if status else "?"])
    return table(["record", "status"], rows)


def secret_kinds() -> str:
    """Every kind of secret that has a form of its own."""
    told: dict[str, list[str]] = {"token": [], "key": [], "": []}
    for kind in sorted({form.kind for form in FORMATS}, key=str.casefold):
        issuer, _, noun = kind.rpartition(" ")
        told[noun if issuer and noun in told else ""].append(issuer if issuer and noun in told else kind)
    return "\n".join(f"- {f'**{noun}**: ' if noun else ''}{', '.join(kinds)}" for noun, kinds in told.items())


TABLES: dict[str, Callable[[], str]] = {
    "surfaces": surfaces,
    "blast-radius": blasts,
    "trigger": triggers,
    "volume": volume,
    "verdicts": verdicts,
    "lost-answers": lost_answers,
    "losses": losses,
    "switches": switches,
    "config": config,
    "credentials": credentials,
    "critical-paths": critical_paths,
    "own-implementation": own_implementation,
    "exit-codes": exits,
    "run-statuses": run_statuses,
    "costs": costs,
    "install": install,
    "metrics": metrics,
    "kpis": kpi_targets,
    "alerts": alert_rules,
    "buckets": buckets,
    "telemetry-limit": telemetry_limit,
    "story-steps": story_steps,
    "story-faults": story_faults,
    "layers": layers,
    "records": records,
    "secret-kinds": secret_kinds,
}


def without_rows(text: str) -> list[str]:
    """The header of every table of a page that has no row below it."""
    return HEADER_ALONE.findall(FENCE.sub("", text))


def refreshed(text: str, used: set[str]) -> str:
    """``text`` with every table as the code has it now."""

    def block(found: re.Match[str]) -> str:
        used.add(found[2])
        return f"{found[1]}{TABLES[found[2]]()}\n{found[3]}"

    return BLOCK.sub(block, text)


def main() -> int:
    """Compare, or write with ``--write``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the present tables into the docs")
    write = parser.parse_args().write
    used: set[str] = set()
    stale, wrong = [], []
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        before = path.read_text(encoding="utf-8")
        after = refreshed(before, used)
        if len(re.findall(r"<!-- table:[a-z-]+ -->", after)) != len(BLOCK.findall(after)):
            wrong.append(f"{path.relative_to(ROOT)}: a table's marks do not match")
        wrong += [f"{path.relative_to(ROOT)}: a table has no row under {header!r}" for header in without_rows(after)]
        if after != before:
            stale.append(f"{path.relative_to(ROOT)}: a table differs from the code")
            if write:
                path.write_text(after, encoding="utf-8")
    unused = [f"no document holds the table {name!r}" for name in TABLES if name not in used]
    complaints = [*wrong, *unused] if write else [*stale, *wrong, *unused]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    if complaints and not write:
        print("Refresh them with: python tools/tables.py --write")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
