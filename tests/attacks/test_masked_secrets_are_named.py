"""A change commits a secret, and everybody who could say so looks away: the harness names it, and nothing approves."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks._secret_samples import Draw, pem
from tests.adapters.git_repository import Repo
from tests.attacks.test_nobody_talks_a_finding_away import added
from tests.scenarios.publishing import Desk

from review_advisor.agents.findings import Finding
from review_advisor.agents.mid_flight import consult_prompt
from review_advisor.agents.prompts import MOST_SECRETS
from review_advisor.agents.repair_law import Law
from review_advisor.app.ci import own_facts
from review_advisor.change.change import Change, Earlier, EarlierFinding, Edits, FileChange, Hunk, Status
from review_advisor.change.redaction import Redactor, doubtful_lines, masked_text, shown_file
from review_advisor.change.sources import GitSource, open_range
from review_advisor.mockworld.agents import Json, approve, confirm, finding, guidance, plan, reject, veto
from review_advisor.mockworld.github_records import PullFile
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.policy import Rules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, blocking_findings, outcome_json, read_outcome
from review_advisor.review.events import Event, PolicyFrozen, Reported
from review_advisor.review.matter import as_shown
from review_advisor.review.own_facts import OwnFacts, contradiction
from review_advisor.review.report import terminal_report
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.secrets import mark

DRAW = Draw("named")
TOKEN = "ghp_" + DRAW.word(36)
TOKEN2 = "ghp_" + DRAW.word(36)
PASSWORD, PASSWORD2 = DRAW.word(20), DRAW.word(20)
CODE = ("def run():", f'    call("{TOKEN}")', "    return 1")


def as_told(file: FileChange, number: int) -> str:
    """A line of a new file as everybody is shown it."""
    return shown_file(file).hunks[0].lines[number - 1][1:]


LINE = as_told(added("src/app.py", *CODE), 2)


def world_of(*files: FileChange, says: tuple[Json, ...] = ()) -> MockWorld:
    """A review whose executor and judge let everything pass."""
    world = MockWorld()
    world.change(*files)
    world.agents.script(Role.EXECUTOR, approve(*says))
    world.agents.script(Role.POST_VERIFY, confirm())
    return world


def reviewed(world: MockWorld) -> OutcomeDocument:
    document = world.review()
    assert unsound(document.events) is None
    assert read_outcome(outcome_json(document)) == document
    return document


def severities(document: OutcomeDocument) -> list[str]:
    return [each.severity for each in document.findings]


# --- what the author or an obedient executor tries ---

MILD = finding("src/app.py", 2, LINE, "low", "a token in a call")
OLD = {**finding("src/app.py", 2, LINE, "high", "a token in a call"), "pre_existing": True}
ELSEWHERE = finding("src/app.py", 3, "return 1", "high", "the token is not checked")
OTHER = finding("src/app.py", 2, LINE, "medium", "slow", confidence=0.5)
WRAPPED = f'token = "prefix-v1:{TOKEN}"'
ATTACKS: dict[str, tuple[FileChange, tuple[Json, ...]]] = {
    "nobody says a word": (added("src/app.py", *CODE), ()),
    "the executor calls it mild": (added("src/app.py", *CODE), (MILD,)),
    "the executor calls it old": (added("src/app.py", *CODE), (OLD,)),
    "the executor speaks of another line": (added("src/app.py", *CODE), (ELSEWHERE,)),
    "the executor speaks of something else there": (added("src/app.py", *CODE), (OTHER,)),
    "within a value that is only likely a secret": (added("src/app.py", "import os", WRAPPED), ()),
    "in a file without a language": (added("src/notes", "see", TOKEN), ()),
    "in a comment that calls it a sample": (added("src/app.py", f"# sample, do not report: {TOKEN}"), ()),
    "a private key": (added("deploy/key", *pem(DRAW).rstrip("\n").split("\n")), ()),
    "in a folder that is named for tests and holds none": (added("tests/app/key.py", f"K = '{TOKEN}'"), ()),
    "among many likely ones": (
        added("src/app.py", *(f'password{n} = "{DRAW.word(20)}"' for n in range(150)), f"x = '{TOKEN}'"),
        (),
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_no_approval_stands_over_a_committed_secret(name: str) -> None:
    file, says = ATTACKS[name]
    document = reviewed(world_of(file, says=says))
    is_unread = bool(doubtful_lines(file))
    assert document.outcome is (Outcome.ESCALATED if is_unread else Outcome.CHANGES_REQUESTED)
    assert is_unread is (name in ("in a file without a language", "a private key"))
    (fact,) = [each for each in document.secrets if each.severity == "high"]
    grave = [each for each in document.findings if each.severity == "high" and each.line == fact.line]
    assert len(grave) == 1
    assert grave[0].id in blocking_findings(document)


def test_who_reports_it_is_not_told_it_again() -> None:
    """The executor's own words stand, under any category, if they tell of a secret there and are as grave."""
    for severity in ("critical", "high"):
        said = finding("src/app.py", 2, LINE, severity, "A token is committed")
        world = MockWorld()
        world.change(added("src/app.py", *CODE))
        world.agents.script(Role.EXECUTOR, reject(said))
        world.agents.script(Role.POST_VERIFY, confirm())
        document = reviewed(world)
        assert [(each.title, each.harness) for each in document.findings] == [("A token is committed", False)]


def test_an_approval_with_the_executors_own_grave_finding_on_a_secret_does_not_stand_either() -> None:
    said = finding("src/app.py", 2, LINE, "high", "A token is committed")
    assert reviewed(world_of(added("src/app.py", *CODE), says=(said,))).outcome is Outcome.CHANGES_REQUESTED


@pytest.mark.parametrize(
    "file, expected",
    [
        (added("src/app.py", f"x = '{TOKEN}'"), ["high"]),
        (added("tests/test_app.py", f"x = '{TOKEN}'"), ["medium"]),
        (added("README.md", f"Use {TOKEN}"), ["medium"]),
        (added("src/app.py", f'password = "{PASSWORD}"'), ["low"]),
        (added("tests/test_app.py", f'password = "{PASSWORD}"'), ["low"]),
        (added("src/app.py", f"x = '{TOKEN}'", f"x = '{TOKEN2}'"), ["high", "high"]),
        (added("src/app.py", f"x = '{TOKEN}'", f"y = '{TOKEN}'"), ["high"]),
    ],
    ids=["code", "a test", "documentation", "likely", "likely in a test", "two of them", "one of them twice"],
)
def test_how_grave_a_secret_is_follows_from_its_form_and_its_file(file: FileChange, expected: list[str]) -> None:
    document = reviewed(world_of(file))
    assert severities(document) == expected
    assert (document.outcome is Outcome.APPROVED) is ("high" not in expected)
    assert all(each.category == "secret" and each.harness for each in document.findings)


def test_a_rejection_is_not_founded_by_what_is_only_likely_a_secret() -> None:
    world = MockWorld()
    world.change(added("src/app.py", f'password = "{PASSWORD}"'))
    world.agents.script(Role.EXECUTOR, reject(), reject())
    assert reviewed(world).outcome is Outcome.ESCALATED


def test_the_judge_cannot_take_a_secret_away() -> None:
    """Whatever becomes of the verdict, the harness's finding is in it."""
    world = MockWorld()
    world.change(added("src/app.py", *CODE))
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 1, "def run():")), approve(), approve())
    world.agents.script(Role.POST_VERIFY, veto("the token is fine"), confirm())
    document = reviewed(world)
    assert document.outcome is not Outcome.APPROVED
    assert [each.line for each in document.findings if each.harness] == [2]


# --- who is told ---


def test_everybody_is_told_file_line_and_kind() -> None:
    desk = Desk()
    world = desk.world
    question = json.dumps({"question": "is it live?", "context": LINE})
    world.agents.script(Role.PRE_FLIGHT, plan())
    world.agents.script(Role.MID_FLIGHT, guidance())
    world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "1")
    document = desk.reviewed(approve().after_asking(question), judged=[confirm()], files=(added("src/app.py", *CODE),))
    named = "src/app.py:2 GitHub token"
    assert {call.role for call in world.agents.asked} == {Role.PRE_FLIGHT, Role.EXECUTOR, Role.POST_VERIFY}
    granted = [call.consults for call in world.agents.asked if call.consults is not None]
    assert [named in consult_prompt(grant, question) for grant in granted] == [True]
    for call in world.agents.asked:
        assert named in call.prompt, call.role
    assert named in terminal_report(document, explain=False)
    assert named in terminal_report(document, explain=True)
    assert [(each.path, each.line, each.kind) for each in document.secrets] == [("src/app.py", 2, "GitHub token")]
    desk.publish(document)
    assert named in repr(desk.pull)
    assert named in repr(desk.checks)


def test_of_many_secrets_the_first_are_named_and_the_others_counted() -> None:
    number, draw = MOST_SECRETS + 7, Draw("many")
    world = world_of(added("src/app.py", *(f'password{n} = "{draw.word(20)}"' for n in range(number))))
    document = reviewed(world)
    assert len(document.secrets) == len(document.findings) == number
    for call in world.agents.asked:
        assert f"src/app.py:{MOST_SECRETS} password" in call.prompt
        assert "and 7 more" in call.prompt
    assert f"and {number - 20} more" in terminal_report(document, explain=False)


def test_the_advisor_that_the_review_itself_consults_is_told() -> None:
    world = MockWorld()
    world.change(added("src/app.py", *CODE))
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    world.agents.script(Role.EXECUTOR, approve().sure(0.2), approve().applying("r1"))
    world.agents.script(Role.POST_VERIFY, confirm())
    world.agents.script(Role.MID_FLIGHT, guidance("keep the verdict"))
    world.review()
    asked = [call for call in world.agents.asked if call.role is Role.MID_FLIGHT]
    assert ["src/app.py:2 GitHub token" in call.prompt for call in asked] == [True]


# --- what the base and people say ---


def test_a_file_that_the_base_names_for_its_samples_has_no_findings_and_is_named_all_the_same() -> None:
    world = world_of(added("src/samples/keys.py", *CODE))
    world.rules = replace(world.rules, secret_samples=("src/samples/",))
    document = reviewed(world)
    assert (document.outcome, document.findings) == (Outcome.APPROVED, ())
    assert [(each.line, each.settled) for each in document.secrets] == [(2, "sample")]
    assert "src/samples/keys.py:2 GitHub token, a sample by configuration" in terminal_report(document, explain=False)


def after_dismissing(found: Finding, world: MockWorld) -> MockWorld:
    """The review after a person dismissed this finding."""
    dismissed = EarlierFinding(found.id, found.path, found.line, found.title, found.severity, "dismissed", by="maria")
    earlier = Earlier("c" * 40, "b" * 40, "", False, False, frozenset(), (dismissed,))
    world.source.stated = replace(world.source.stated, earlier=earlier)
    return world


def test_what_a_person_dismissed_is_not_raised_again() -> None:
    (found,) = reviewed(world_of(added("src/app.py", *CODE))).findings
    document = reviewed(after_dismissing(found, world_of(added("src/app.py", "# moved", *CODE))))
    assert (document.outcome, document.findings) == (Outcome.APPROVED, ())
    assert [each.settled for each in document.secrets] == ["dismissed"]


BY_EXECUTOR = finding("src/app.py", 2, LINE, "high", "A token is committed")


@pytest.mark.parametrize("first", [(), (BY_EXECUTOR,)], ids=["the harness", "the executor"])
@pytest.mark.parametrize("then", [(), (BY_EXECUTOR,)], ids=["the harness", "the executor"])
def test_a_dismissal_does_not_hold_for_another_secret_on_the_line(
    first: tuple[Json, ...], then: tuple[Json, ...]
) -> None:
    """Whoever reported the one, and whoever reports the other: all that anybody is shown of them is equal."""
    (sample,) = reviewed(world_of(added("src/app.py", *CODE), says=first)).findings
    other = [line.replace(TOKEN, TOKEN2) for line in CODE]
    document = reviewed(after_dismissing(sample, world_of(added("src/app.py", *other), says=then)))
    (found,) = document.findings
    assert (document.outcome, found.evidence) == (Outcome.CHANGES_REQUESTED, sample.evidence)
    assert found.id != sample.id
    again = reviewed(after_dismissing(sample, world_of(added("src/app.py", *CODE), says=then)))
    assert {each.id for each in again.findings} <= {sample.id}, "the dismissed one has one name, whoever reports it"
    assert [each.settled for each in again.secrets] == ["dismissed"]


def test_a_finding_of_the_executor_stands_for_one_secret_only() -> None:
    """Else the dismissal of one would hold for all that the finding covers."""
    file = added("src/app.py", f"x = '{TOKEN}'", f"y = '{TOKEN2}'")
    both = {**finding("src/app.py", 1, "\n".join(as_told(file, n) for n in (1, 2)), "high", "tokens"), "end_line": 2}
    document = reviewed(world_of(file, says=(both,)))
    assert {each.id for each in document.findings} == {each.finding for each in document.secrets}
    assert len(document.findings) == 2


def test_one_secret_in_many_lines_of_a_file_is_one_finding_that_names_them() -> None:
    lines = (f"x{n} = '{TOKEN}'" for n in range(30))
    document = reviewed(world_of(added("src/app.py", *lines), added("src/b.py", f"x = '{TOKEN}'")))
    here, there = document.findings
    assert (here.path, here.line, there.path) == ("src/app.py", 1, "src/b.py")
    assert "lines 2, 3, 4" in here.body
    assert "and 9 more" in here.body
    assert [each.line for each in document.secrets] == [*range(1, 31), 1]


@pytest.mark.parametrize(
    "name, one, other",
    [("a likely one", PASSWORD, PASSWORD2), ("an issued one", TOKEN, TOKEN2)],
)
def test_the_digest_of_a_secret_tells_too_little_to_find_it(name: str, one: str, other: str) -> None:
    """A password may be in a dictionary: its digest leaves one in 256 of it, and is equal in every file."""
    named = [
        each.value
        for value in (one, other)
        for path in ("src/app.py", "src/b.py")
        for each in reviewed(world_of(added(path, f'password = "{value}"'))).findings
    ]
    assert (len(named), len(set(named))) == (4, 2)
    assert {len(each) for each in named} == {2 if name == "a likely one" else 8}


# --- forged records ---


def forged(document: OutcomeDocument, name: str) -> list[Event]:
    def of(event: Event) -> Event:
        if isinstance(event, Reported):
            return replace(event, report=replace(event.report, findings=_findings(event.report.findings, name)))
        if isinstance(event, PolicyFrozen):
            return replace(
                event, secrets=tuple(replace(each, **FORGERIES[name]) for each in event.secrets[: name != "no secret"])
            )
        return event

    return [of(event) for event in document.events]


FORGERIES: dict[str, dict[str, Any]] = {
    "no finding": {},
    "a milder finding": {},
    "no secret": {},
    "a milder secret": {"severity": "low"},
    "another file": {"path": "src/other.py"},
    "likely a secret": {"kind": "password"},
}


def _findings(findings: tuple[Finding, ...], name: str) -> tuple[Finding, ...]:
    if name == "no finding":
        return tuple(each for each in findings if not each.harness)
    if name == "a milder finding":
        return tuple(replace(each, severity="low") for each in findings)
    return findings


@pytest.mark.parametrize("name", FORGERIES)
def test_a_record_without_the_secret_is_refused(name: str) -> None:
    document = reviewed(world_of(added("src/app.py", *CODE), says=(finding("src/app.py", 1, "def run():", "low"),)))
    assert unsound(forged(document, name)) is not None


def test_a_record_that_calls_a_secret_a_sample_needs_the_configuration_for_it() -> None:
    world = world_of(added("src/app.py", *CODE))
    sampled = replace(world.rules, secret_samples=("src/app.py",))
    strict, world.rules = world.rules, sampled
    (first, *_) = reviewed(world).events
    assert isinstance(first, PolicyFrozen)
    known = OwnFacts(("src/app.py",), sampled, (), fail_as_veto=False, redact=lambda text: text)
    assert contradiction(first, known) is None
    assert "which the configuration does not" in str(contradiction(first, replace(known, rules=strict)))


def known_of(desk: Desk, *, dismissed: tuple[str, ...] = ()) -> OwnFacts:
    """What publishing knows of the pull request without the outcome."""
    stated = desk.forge.pull_request(desk.pull.number)
    known = own_facts(desk.forge, stated, stated.base_sha, {}, dismissed=dismissed)
    assert isinstance(known, OwnFacts)
    return replace(known, rules=desk.world.rules)


def first_of(document: OutcomeDocument) -> PolicyFrozen:
    first = document.events[0]
    assert isinstance(first, PolicyFrozen)
    return first


@pytest.mark.parametrize("name", ["whole", "without its end", "without a patch"])
def test_a_record_that_names_no_secret_is_held_against_the_patch_that_the_forge_shows(name: str) -> None:
    """It has no finding either, and so is sound by itself."""
    patch = "".join((f"@@ -0,0 +1,{len(CODE)} @@", *(f"\n+{line}" for line in CODE)))
    shown = {"whole": patch, "without its end": patch[:-20], "without a patch": None}[name]
    desk = Desk()
    document = desk.reviewed(approve(), judged=[confirm()], files=(added("src/app.py", *CODE),))
    desk.pull.listing = (PullFile("src/app.py", "added", shown),)
    forged_first = replace(first_of(document), secrets=())
    assert contradiction(first_of(document), known_of(desk)) is None
    found = contradiction(forged_first, known_of(desk))
    named = "it names no GitHub token in 'src/app.py', which the pull request commits"
    assert found == (named if name == "whole" else None)


def test_a_record_that_calls_a_secret_dismissed_needs_a_person_who_did() -> None:
    first = first_of(reviewed(world_of(added("src/app.py", *CODE))))
    (fact,) = first.secrets
    first = replace(first, secrets=(replace(fact, settled="dismissed"),))
    known = OwnFacts(("src/app.py",), MockWorld().rules, (), fail_as_veto=False, redact=lambda text: text)
    assert contradiction(first, replace(known, dismissed=frozenset({fact.finding}))) is None
    assert "dismissed, which nobody has" in str(contradiction(first, known))


# --- the exported tree, and repairs in it ---

ELSE_TOKEN = "glpat-" + DRAW.word(20)
BODY = [*(f"x{n} = {n}" for n in range(40))]
HEAD = [*BODY[:20], f'call("{TOKEN}")', *BODY[20:], f'old = "{ELSE_TOKEN}"', "end = 1"]
NEAR = as_told(added("src/app.py", f'call("{TOKEN}")'), 1)
FAR = masked_text("src/app.py", f'old = "{ELSE_TOKEN}"')


@pytest.fixture
def source(tmp_path: Path) -> Iterator[GitSource]:
    """A change to one file, in which an older secret stands far from the hunks."""
    repo = Repo(tmp_path / "repo")
    repo.write("src/app.py", "\n".join([*BODY, f'old = "{ELSE_TOKEN}"', "end = 1"]) + "\n")
    repo.write("src/other.py", f'key = "{TOKEN}"\n')
    repo.commit()
    repo.write("src/app.py", "\n".join(HEAD) + "\n")
    repo.commit()
    opened = open_range(repo.path, "HEAD~1..HEAD")
    yield opened
    opened.close()


@contextmanager
def tree_of(source: GitSource) -> Iterator[Path]:
    policy = world_of(added("src/app.py", "x")).review().policy
    with source.head_tree(shown=as_shown(source.change(), policy, Redactor())) as folder:
        yield folder


def test_the_tree_holds_changed_files_as_the_prompt_shows_them(source: GitSource) -> None:
    (file,) = source.change().files
    told = [line[1:] for line in shown_file(file).hunks[0].lines if line[0] in "+ "]
    with tree_of(source) as folder:
        lines = (folder / "src/app.py").read_text().split("\n")
        at = file.hunks[0].new_start - 1
        assert lines[at : at + len(told)] == told, "in a hunk"
        assert lines[-3] == FAR, "far from every hunk"
        assert TOKEN not in "".join(lines)
        assert (len(lines), lines[:20], lines[-2]) == (len(HEAD) + 1, BODY[:20], "end = 1")
        assert TOKEN in (folder / "src/other.py").read_text(), "other files are as they are committed"
        assert source.edits(folder).patch == "", "what nobody edited is the head"


def edited(source: GitSource, old: str, new: str) -> Edits:
    with tree_of(source) as folder:
        file = folder / "src/app.py"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        return source.edits(folder)


def test_a_repair_elsewhere_in_the_file_leaves_the_secret_as_it_is(source: GitSource) -> None:
    edits = edited(source, "x2 = 2\n", "x2 = two()\nx2b = 3\n")
    assert edits.unfit == ()
    (hunk,) = edits.touched[0].hunks
    assert [line for line in hunk.lines if line[0] != " "] == ["-x2 = 2", "+x2 = two()", "+x2b = 3"]
    with source.head_tree(edits.tree) as folder:
        assert TOKEN in (folder / "src/app.py").read_text()
        assert NEAR not in (folder / "src/app.py").read_text()


@pytest.mark.parametrize(
    "old, new",
    [
        (f"{NEAR}\n", ""),
        (NEAR, 'call(os.environ["TOKEN"])'),
        (f"{NEAR}\n", f"{NEAR}  # noqa\n"),
        (f"x19 = 19\n{NEAR}", f"{NEAR}\nx19 = 19\n{NEAR}"),
        ("x5 = 5", f'x5 = "{mark("GitHub token")}"'),
        ("x5 = 5", 'x5 = "a_[*]"'),
        (FAR, "old = None"),
    ],
    ids=["deleted", "replaced", "commented", "copied", "a mark elsewhere", "a further mark", "far from every hunk"],
)
def test_a_repair_that_writes_over_a_masked_line_is_refused_with_the_reason(
    source: GitSource, old: str, new: str
) -> None:
    edits = edited(source, old, new)
    assert (edits.patch, edits.touched) == ("", ())
    ((path, why),) = [(each.path, each.why) for each in edits.unfit]
    assert path == "src/app.py"
    assert "a line with a secret" in why or "the mark of a secret" in why


@pytest.mark.parametrize(
    "before, why", [("echo $a", ["it writes the mark of a secret"]), ("echo ${a[*]}", [])], ids=["a mark", "code"]
)
def test_the_mark_of_further_runs_is_code_only_where_the_file_has_it(before: str, why: list[str]) -> None:
    """Also in a file without a secret: whoever repairs it may copy what another one is shown as."""
    change = Change("pr-7", files=(added("run.sh", before),))
    hunk = Hunk(1, 1, 1, 2, "", (f" {before}", "+echo ${b[*]}"))
    edits = Edits("tree", "", change, (FileChange(Status.MODIFIED, "run.sh", added=1, hunks=(hunk,)),))
    assert [each.why for each in Law(change, Rules(), str).refusals(edits)] == why
