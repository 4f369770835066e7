"""What the page of a run tells: values that hold everything that happened, and nothing that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.adapters.hostile_review import hostile_review, said
from tests.adapters.ledger.test_readings_agree import a_review_with_a_number_for_everything
from tests.adapters.ledgers import Story, five, nothing, record, told
from tests.scenarios.five_stories import STORIES
from tests.unit.ledger.test_runs import RUN
from tests.unit.outcome.altered import of_a_council

from review_advisor.agents.answers import Consult, Guidance
from review_advisor.agents.findings import finding_id
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.ledger.page_entries import (
    LONGEST_TEXT,
    MOST_LINES,
    changes,
    entry_json,
    entry_of,
    page_lines,
    without_empty,
)
from review_advisor.ledger.page_entries import page_text as shown
from review_advisor.ledger.pages import RunPage
from review_advisor.ledger.run_queries import show_run
from review_advisor.mockworld.agents import (
    approve,
    change,
    confirm,
    credit_gone,
    finding,
    guidance,
    learned,
    plan,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Event,
    PolicyFrozen,
    Repaired,
    Reported,
    ReviewStopped,
    Verified,
)
from review_advisor.review.observed import ObservedLabel

BEFORE = {"src/app.py": "def mean(rows):\n    return 0\n"}
FAULTY = {"src/app.py": "def mean(rows):\n    return sum(rows) / len(rows)\n"}
MENDED = "def mean(rows):\n    return sum(rows) / len(rows) if rows else 0\n"


def page_of(document: OutcomeDocument, folder: Path) -> dict[str, Any]:
    record(folder / "ledger.sqlite3", document)
    line = show_run(folder / "ledger.sqlite3", document.run_id).line
    return RunPage(line, document.events, document).as_json()


def entries(page: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [entry for entry in page["entries"] if entry["kind"] == kind]


def texts(value: Any) -> Iterator[str]:
    """Every text in a page's values."""
    if isinstance(value, dict):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each)
    elif isinstance(value, str):
        yield value


# --- the timeline -----------------------------------------------------------------------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.parametrize("story", [*STORIES, a_review_with_a_number_for_everything], ids=lambda story: story.__name__)
def test_every_event_has_its_place_and_a_calls_beginning_is_told_by_its_end(story: Story, tmp_path: Path) -> None:
    document = told(story)
    page = page_of(document, tmp_path)
    wanted = [n for n, event in enumerate(document.events) if not isinstance(event, CallStarted)]
    assert [entry["number"] for entry in page["entries"]] == wanted
    assert all(entry["title"] and entry["at"] for entry in page["entries"])
    assert json.loads(json.dumps(page, allow_nan=False)) == page


def test_every_kind_of_event_can_be_told() -> None:
    def stops(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, credit_gone())

    def repairs(world: MockWorld) -> None:
        a_repair(world)

    def consults_by_itself(world: MockWorld) -> None:
        world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
        doubted = reject(finding("src/app.py", 3, "value = 3", "medium", confidence=0.5))
        world.agents.script(Role.EXECUTOR, doubted, doubted, approve().applying("r1"))
        dropped = finding_id("src/app.py", "correctness", "value = 3")
        world.agents.script(Role.MID_FLIGHT, guidance("drop it", change("drop", dropped)))

    def opens(world: MockWorld) -> None:
        world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, Advisor("early", "Looks.", on="start"))))

    def has_an_inline_member(world: MockWorld) -> None:
        scribe = Advisor("scribe", "Reads.", on="finish", inline=True)
        world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, scribe)))

    reviews = [
        *five(),
        told(stops, 6),
        told(has_an_inline_member, 11),
        told(repairs, 7),
        told(of_a_council, 8),
        told(opens, 9),
        told(consults_by_itself, 10),
    ]
    happened = {type(event): event for document in reviews for event in document.events}
    union, _ = get_args(Event)
    assert set(happened) == set(get_args(union))
    for event in happened.values():
        assert entry_of(event).title
    stopped = entry_json(3, happened[ReviewStopped])
    assert (stopped["title"], stopped["number"]) == ("Stopped: credit_exhausted", 3)


def test_a_call_that_was_killed_in_flight_is_said_to_have_no_answer(tmp_path: Path) -> None:
    document = told(nothing)
    under_way = next(n for n, event in enumerate(document.events) if isinstance(event, CallStarted))
    record(tmp_path / "ledger.sqlite3", document, until=under_way + 1)
    line = show_run(tmp_path / "ledger.sqlite3", document.run_id).line
    page = RunPage(line, document.events[: under_way + 1]).as_json()
    assert page["entries"][-1]["title"].endswith("was asked; no answer is recorded")
    assert page["entries"][-1]["number"] == under_way
    summary = dict(page["summary"])
    assert (summary["Status"], summary["Wall clock"]) == ("unfinished", "no end is recorded")
    assert page["findings"] == page["why"] == []


def test_a_consult_is_told_with_question_options_guidance_and_what_came_after(tmp_path: Path) -> None:
    page = page_of(told(STORIES[0]), tmp_path)
    first, failed, _ = entries(page, "consulted")
    blocks = dict(first["blocks"])
    assert blocks["Question"] == "May seven repeat?"
    assert blocks["Context"] == "value = 7"
    assert blocks["Options"] == ["yes", "no"]
    assert blocks["Guidance"] == "seven may repeat"
    assert list(blocks)[:4] == ["Question", "Context", "Options", "Guidance"]
    (report,) = entries(page, "reported")
    assert first["change"]["before"] is None
    assert first["change"]["after"] == report["number"]
    assert [each["how"] for each in first["change"]["findings"]] == ["new"]
    assert failed["title"] == "Consult: failed"
    assert "change" not in failed, "who was told nothing was not changed by it"


def test_a_consult_says_what_became_of_its_advice(tmp_path: Path) -> None:
    def overridden(world: MockWorld) -> None:
        world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
        world.agents.script(Role.EXECUTOR, approve().sure(0.5), approve().overriding("r1", "row 3 is bounded"))

    def unstated(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, approve().after_asking("Seven?"))

    found = []
    for number, story in enumerate((overridden, unstated)):
        (tmp_path / str(number)).mkdir()
        (consult,) = entries(page_of(told(story), tmp_path / str(number)), "consulted")
        found.append(dict(consult["facts"])["what became of it"])
    assert found == ["overridden: row 3 is bounded", "not stated"]


def test_guidance_that_stops_or_is_malformed_says_so() -> None:
    asked = Consult(question="Seven?")
    advice = Guidance(action="stop here", stop_signal=True, confidence=0.4)
    told_of = dict(entry_json(3, consulted(ConsultNote(asked, "answered", advice, wrapped=True)))["facts"])
    assert told_of["confidence"] == "0.40"
    assert told_of["stop signal"] == "yes: the review goes to a human"
    assert told_of["malformed"].startswith("the answer was not in the asked form")
    denied = entry_json(
        3, consulted(ConsultNote(asked, "denied", reason="the cap is used up", tokens=7, duration_ms=1_500))
    )
    assert (denied["title"], denied["tone"]) == ("Consult: denied", "warn")
    assert dict(denied["facts"]) == {"urgency": "normal", "why": "the cap is used up", "took": "1.5 s", "tokens": "7"}


def consulted(note: ConsultNote) -> Consulted:
    return Consulted(at=datetime(2026, 1, 5, tzinfo=UTC), surface=Surface.PR_REVIEW, advisor="mid_flight", note=note)


def test_a_judgement_by_the_diff_alone_that_did_not_come_says_why() -> None:
    missing = BlindJudged(at=datetime(2026, 1, 5, tzinfo=UTC), surface=Surface.PR_REVIEW, missing="it was lost")
    told_of = entry_json(2, missing)
    assert (told_of["title"], told_of["facts"]) == ("No judgement by the diff alone", [["why", "it was lost"]])


def test_a_veto_is_told_with_its_disagreements_and_the_reply_as_it_came(tmp_path: Path) -> None:
    page = page_of(told(STORIES[1]), tmp_path)
    vetoed, confirmed = entries(page, "verified")
    assert (vetoed["title"], vetoed["tone"]) == ("Post-verify: VETO", "bad")
    blocks = dict(vetoed["blocks"])
    assert blocks["Direction"] == "look at line 7"
    assert blocks["Disagreements"][0].startswith("d0.1, blocking\nThe executor: ")
    assert '"VETO"' in dict(vetoed["folded"])["The reply as it came"]
    assert "change" not in confirmed


def everything_is_said(world: MockWorld) -> None:
    """What an executor can report: a finding that is not believed, one that is, and facts for the wiki."""
    world.rules = replace(world.rules, wiki_folder="docs/wiki")
    unbelieved = finding("src/app.py", 3, "no such line", title="it is not there")
    fact = learned("Values are numbered", "src/app.py", "value = 7")
    groundless = learned("Values are secret", "src/app.py", "nowhere to be seen")
    world.agents.script(
        Role.EXECUTOR, reject(unbelieved, finding("src/app.py", 7, "value = 7")).teaching(fact, groundless)
    )


@pytest.mark.parametrize("story", [*STORIES, everything_is_said], ids=lambda story: story.__name__)
def test_all_that_the_ledger_keeps_of_what_a_role_said_stands_with_its_event(story: Story) -> None:
    spoken = {
        "planned": "plan",
        "consulted": "note",
        "reported": "report",
        "blind_judged": "report",
        "verified": "judged",
    }
    document = told(story)
    seen = 0
    for number, event in enumerate(json.loads(outcome_json(document))["events"]):
        if event["kind"] in spoken:
            page = "\n".join(texts(entry_json(number, document.events[number]))).lower()
            missing = [said for said in texts(event[spoken[event["kind"]]]) if said.lower() not in page]
            assert missing == [], event["kind"]
            seen += 1
    assert seen > 0


# --- what a veto or a consult changed ---------------------------------------------------------------------------------


def a_repair(world: MockWorld) -> None:
    world.checkout(FAULTY, BEFORE)
    world.agents.script(Role.EXECUTOR, approve(), approve(summary="mended").repairing("src/app.py", MENDED))
    world.agents.script(Role.POST_VERIFY, veto("an empty list divides by zero"), confirm())


def test_findings_before_and_after_a_veto_are_compared_by_their_ids() -> None:
    def story(world: MockWorld) -> None:
        world.repair = "off"
        stays, goes, grows, comes = (f"value = {n}" for n in (3, 5, 7, 9))
        before = (
            finding("src/app.py", 3, stays),
            finding("src/app.py", 5, goes, severity="low"),
            finding("src/app.py", 7, grows, severity="low"),
        )
        after = (finding("src/app.py", 7, grows), finding("src/app.py", 9, comes), finding("src/app.py", 3, stays))
        world.agents.script(Role.EXECUTOR, approve(*before), reject(*after))
        world.agents.script(Role.POST_VERIFY, veto("nine is wrong"), confirm())

    document = told(story)
    (change,) = changes(document.events).values()
    assert change.verdicts == ("approve", "reject")
    told_of = [(each.how, each.finding.line, each.was) for each in change.findings]
    assert told_of == [("gone", 5, ""), ("changed", 7, "low"), ("new", 9, ""), ("same", 3, "")]
    assert change.patch == ""


def test_the_repair_that_was_accepted_is_part_of_what_a_veto_changed(tmp_path: Path) -> None:
    page = page_of(told(a_repair), tmp_path)
    vetoed, _ = entries(page, "verified")
    assert "+    return sum(rows) / len(rows) if rows else 0" in vetoed["change"]["patch"]
    assert vetoed["change"]["patch"] == entries(page, "repaired")[0]["patch"] == page["repair"]


def test_a_repair_after_the_next_judgement_is_no_part_of_what_an_earlier_veto_changed() -> None:
    events = told(a_repair).events
    reported, repaired, vetoed = (
        next(each for each in events if isinstance(each, kind)) for kind in (Reported, Repaired, Verified)
    )
    assert isinstance(repaired, Repaired)
    first, second = changes([reported, vetoed, reported, vetoed, repaired, reported]).values()
    assert (first.before, first.after, first.patch) == (0, 2, "")
    assert (second.before, second.after, second.patch) == (2, 5, repaired.patch)


@pytest.mark.parametrize("result, tone", [("accepted", "good"), *((each, "warn") for each in ("withdrawn", "refused"))])
def test_only_an_accepted_repair_is_shown_as_good(result: Any, tone: str) -> None:
    repaired = next(each for each in told(a_repair).events if isinstance(each, Repaired))
    entry = entry_of(replace(repaired, result=result))
    assert (entry.title, entry.tone) == (f"Repair: {result}", tone)


def test_a_veto_after_which_nothing_was_reported_has_changed_nothing() -> None:
    document = told(STORIES[3])
    last = list(changes(document.events).values())[-1]
    assert last.after is None
    assert last.findings == ()


def test_parts_are_compared_with_themselves_only() -> None:
    document = told(STORIES[3])
    events = document.events
    for number, made in changes(events).items():
        others = [made.before, made.after]
        here = events[number]
        for other in (events[n] for n in others if n is not None):
            assert (other.surface, other.shard) == (here.surface, here.shard)  # type: ignore[union-attr]


# --- what it says of itself -------------------------------------------------------------------------------------------


def test_the_summary_says_what_the_list_says(tmp_path: Path) -> None:
    page = page_of(told(a_review_with_a_number_for_everything), tmp_path)
    summary = dict(page["summary"])
    assert len(summary) >= 12
    assert summary["Cost"] == "$0.1900" == f"${page['run']['cost_usd']:.4f}"
    assert (summary["Vetoes"], summary["Consults"], summary["Flags"]) == ("1", "1", "none")
    assert sum(cost["cost_usd"] for cost in page["costs"]) == pytest.approx(page["run"]["cost_usd"])
    assert {cost["role"] for cost in page["costs"]} >= {"pre_flight", "executor", "post_verify"}


def test_what_another_run_counts_is_not_counted_again() -> None:
    document = told(a_review_with_a_number_for_everything)
    calls = [number for number, event in enumerate(document.events) if isinstance(event, CallEnded)]
    assert sum(cost.usage.cost_usd or 0 for cost in RunPage(RUN, document.events).counted) == pytest.approx(0.19)
    assert RunPage(RUN, document.events, paid_elsewhere=frozenset(calls)).counted == ()
    first = RunPage(RUN, document.events, paid_elsewhere=frozenset(calls[1:])).counted
    assert [(cost.role, cost.calls) for cost in first] == [(Role.PRE_FLIGHT, 1)]


def test_a_cost_that_is_known_in_part_is_said_so_and_one_that_is_not_known_is_unknown(tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, approve().costing(None))
        world.agents.script(Role.POST_VERIFY, confirm().costing(0.03))

    def silent(world: MockWorld) -> None:
        world.agents.script(Role.PRE_FLIGHT, plan().costing(None))
        world.agents.script(Role.EXECUTOR, approve().costing(None))
        world.agents.script(Role.POST_VERIFY, confirm().costing(None))

    page = page_of(told(story), tmp_path)
    assert dict(page["summary"])["Cost"].endswith(", and 1 call unknown")
    assert page["run"]["unpriced"] == 1
    assert dict(page_of(told(silent, 2), tmp_path)["summary"])["Cost"] == "unknown"


def test_what_became_of_a_finding_stands_with_it_and_of_the_pull_request_apart() -> None:
    document = told(STORIES[0])
    (raised,) = document.findings
    labels = (
        ObservedLabel("", "merge", "merged", "commit 1234567"),
        ObservedLabel(raised.id, "at_merge", "fixed", "<b>its lines</b> are gone"),
        ObservedLabel("f-00000000000000000000000000000000", "thread", "open", ""),
    )
    page = RunPage(RUN, document.events, document, labels).as_json()
    assert page["became"] == ["merge: merged (commit 1234567)"]
    assert page["findings"][0]["became"] == ["at merge: fixed (<b>its lines</b> are gone)"]
    assert RunPage(RUN, document.events, document).as_json()["became"] == []


def test_a_run_whose_events_cannot_be_told_says_why(tmp_path: Path) -> None:
    document = told(nothing)
    record(tmp_path / "ledger.sqlite3", document)
    line = show_run(tmp_path / "ledger.sqlite3", document.run_id).line
    page = RunPage(line, trouble="The run is not what was recorded.").as_json()
    assert page["trouble"] == "The run is not what was recorded."
    assert page["entries"] == page["costs"] == page["findings"] == []
    assert dict(page["summary"])["Status"] == "approved"


# --- hostile texts ----------------------------------------------------------------------------------------------------


def test_markup_stays_text_and_what_cannot_be_seen_is_shown(tmp_path: Path) -> None:
    page = page_of(hostile_review(), tmp_path)
    every = list(texts(page))
    for what in ("title", "risk", "question", "option", "guidance", "rationale", "reasoning", "finding", "summary"):
        assert any(text.startswith(f"{what}</script><script>alert(1)") for text in every), what
    assert not [text for text in every if "\u202e" in text or "\u2028" in text]
    assert any("<U+202E>" in text for text in every)
    assert said("title") not in every, "the invisible parts of it are spelled out"


def test_a_secret_that_slipped_into_a_text_is_taken_out() -> None:
    assert "ghp_" not in shown(f"token ghp_{'a1B2' * 9}")


def test_a_text_is_clipped_with_a_note_and_a_list_too() -> None:
    whole = "x" * LONGEST_TEXT
    assert shown(whole) == whole
    clipped = shown(whole + "yz")
    assert clipped == f"{whole}\n[2 more characters are left out here; `runs export` writes them all]"
    lines = page_lines(["line"] * (MOST_LINES + 3))
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == "[3 more are left out here; `runs export` writes them all]"


def test_only_what_says_something_is_filled_in() -> None:
    assert without_empty(a="", b=(), c=None, d=False, e=0, f=0.0, g="x") == {"e": 0, "f": 0.0, "g": "x"}


def test_the_first_event_tells_what_was_decided() -> None:
    first = hostile_review().events[0]
    assert isinstance(first, PolicyFrozen)
    blocks = dict(entry_json(0, first)["blocks"])
    assert blocks["What was decided"][0].startswith("pr_review: veto authority, ")
    assert blocks["Files"][0].startswith("modified src/<img")


@pytest.mark.parametrize(
    "server",
    ["https://github.com", "https://github.example.com", "https://ghe.example.com:8443", "https://example.com/github"],
)
def test_a_page_links_to_the_github_that_the_review_was_of(tmp_path: Path, server: str) -> None:
    world = MockWorld()
    world.source.stated = replace(world.source.stated, server=server)
    assert page_of(world.review(), tmp_path)["run"]["server"] == server


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "server",
    [
        "",
        "http://github.example.com",
        "javascript:alert(1)//",
        "https://someone:secret@github.com",
        "https://github.com@evil.example",
        "https://github.com/../..",
        "https://github.com?x=",
        "https://github.com#",
        "https://github.com\n.evil.example",
        "https://github.com ",
        "https://git\u2044hub.com",
        "https:///evil.example",
        "https://-",
        "git@github.com:acme/shop",
    ],
)
def test_an_address_that_is_none_of_a_server_becomes_no_link(tmp_path: Path, server: str) -> None:
    world = MockWorld()
    world.source.stated = replace(world.source.stated, server=server)
    assert page_of(world.review(), tmp_path)["run"]["server"] == ""


def test_a_runs_page_names_the_teams_own_rules(tmp_path: Path) -> None:
    world = MockWorld()
    world.source.guidelines = {"REVIEW.md": "No global state."}
    assert ["Team rules", "REVIEW.md"] in page_of(world.review(), tmp_path)["summary"]


def test_the_page_shows_how_a_council_voted_and_who_is_missing(tmp_path: Path) -> None:
    page = page_of(told(of_a_council), tmp_path)
    first, second, findings = page["council"]
    assert first.startswith("Council on pr_review, attempt 1\n")
    assert "Dissent: hydraflow-review-advisor." in first
    assert "Blind spot: tester did not judge (lost: crash)." in second
    assert "low src/app.py:1 a fault: raised by 0 of 3 members" in findings
    assert page_of(told(lambda world: None, 3), tmp_path)["council"] == []
