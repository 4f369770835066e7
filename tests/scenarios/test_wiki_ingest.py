import json
from dataclasses import replace

import pytest
from tests.scenarios.reading import is_shown, own_words, shown

from review_advisor.agents.calls import AgentCall
from review_advisor.mockworld.agents import Line, approve, credit_gone, finding, learned, lost, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import KnowledgeStored, Reported
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome

WIKI = Surface.WIKI_INGEST
FACT = learned("Values are numbered", "src/app.py", "value = 7", tags=("values",))
PAGE = "values-are-numbered.md"


@pytest.fixture
def wiki(world: MockWorld) -> MockWorld:
    """A world with a wiki, whose executor has learned one thing."""
    world.rules = replace(world.rules, wiki_folder="docs/wiki")
    return world


def teaches(world: MockWorld, *entries: object, line: Line | None = None) -> None:
    report = (line or approve()).teaching(*(entries or (FACT,)))  # type: ignore[arg-type]
    world.agents.script(Role.EXECUTOR, report, surface=Surface.PR_REVIEW)


def on_the_wiki(world: MockWorld) -> list[AgentCall]:
    return [call for call in world.agents.asked if call.surface is WIKI]


def of_the_wiki(document: OutcomeDocument) -> Outcome | None:
    (record,) = [surface for surface in document.surfaces if surface.surface is WIKI]
    return record.outcome


def test_what_a_review_learned_is_judged_and_stored_with_its_origin_d35(wiki: MockWorld) -> None:
    teaches(wiki)
    document = wiki.review()
    (judge,) = on_the_wiki(wiki)
    assert judge.role is Role.POST_VERIFY
    (entry,) = json.loads(shown(judge, "KNOWLEDGE"))
    assert (entry["title"], entry["path"], entry["line"]) == ("Values are numbered", "src/app.py", 7)
    assert "these knowledge entries" in own_words(judge)
    assert wiki.agents.asked[-1] is judge, "it comes last, when the change is judged"
    assert wiki.wiki.files == {PAGE: wiki.artifacts.files[f"wiki/{PAGE}"]}
    page = wiki.wiki.files[PAGE]
    head = "a" * 40
    for fact in (
        'status: "knowledge"',
        'run: "run-1"',
        'change: "pr-7"',
        f'head: "{head}"',
        'path: "src/app.py"',
        "line: 7",
    ):
        assert f"\n{fact}\n" in page
    assert '\nadvisor: "APPROVE"\n' in page
    assert page.endswith("# Values are numbered\n\nIt has been so for years.\n\n```\nvalue = 7\n```\n")
    assert document.outcome is Outcome.APPROVED
    assert "stored       values-are-numbered.md: Values are numbered" in report_text(document)


def test_the_executor_is_ours_and_says_so(wiki: MockWorld) -> None:
    teaches(wiki)
    document = wiki.review()
    (reported,) = [event for event in document.events if isinstance(event, Reported) and event.surface is WIKI]
    assert reported.structural
    assert reported.report.summary == "1 of 1 knowledge entries pass the structural check."


def test_without_an_entry_nobody_is_asked_d35(wiki: MockWorld) -> None:
    document = wiki.review()
    assert on_the_wiki(wiki) == []
    assert of_the_wiki(document) is Outcome.APPROVED
    assert wiki.wiki.files == {}


def test_without_a_wiki_nobody_asks_for_knowledge(world: MockWorld) -> None:
    teaches(world)
    document = world.review()
    assert [row.surface for row in document.policy.surfaces] == [Surface.PR_REVIEW]
    assert "knowledge" not in own_words(world.calls(Role.EXECUTOR)[0])
    assert world.wiki.files == {}


def test_the_executor_of_the_change_alone_is_asked_for_it(wiki: MockWorld) -> None:
    wiki.change(edited("src/app.py"), spec="count")
    wiki.review()
    of_change, of_spec = wiki.calls(Role.EXECUTOR)
    assert "knowledge entries" in own_words(of_change)
    assert "knowledge" not in own_words(of_spec)


def test_knowledge_never_reaches_the_judge_of_the_change(wiki: MockWorld) -> None:
    teaches(wiki)
    wiki.review()
    (judge, _) = wiki.calls(Role.POST_VERIFY)
    assert not is_shown(judge, "KNOWLEDGE")
    assert "Values are numbered" not in judge.prompt


def is_a_proposal(world: MockWorld, document: OutcomeDocument, verdict: str) -> bool:
    """Whether the entry lies beside the review as a proposal, and nowhere else."""
    (stored,) = document.surfaces[-1].stored
    page = world.artifacts.files[f"wiki/{PAGE}"]
    why = f"a proposal, because the verdict of its advisor is: {verdict}"
    assert f"(not in the repository: {why})" in " ".join(report_text(document).split())
    return (
        (stored.proposal, stored.not_in_repository, world.wiki.files) == (True, why, {})
        and '\nstatus: "proposal"\n' in page
        and f'\nadvisor: "{verdict}"\n' in page
    )


def test_what_an_advisory_veto_is_about_is_a_proposal_and_no_knowledge_d8(wiki: MockWorld) -> None:
    teaches(wiki)
    wiki.agents.script(Role.POST_VERIFY, veto("an opinion"), surface=WIKI)
    document = wiki.review()
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, False)
    (judged,) = document.surfaces[-1].parts[0].post_verify
    assert judged.result.disagreements[0].advisor_assessment == "an opinion"
    assert is_a_proposal(wiki, document, "VETO")


def test_fail_as_veto_never_blocks_it_d8(wiki: MockWorld) -> None:
    teaches(wiki)
    wiki.switch("HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "yes")
    wiki.agents.script(Role.POST_VERIFY, lost(), surface=WIKI)
    document = wiki.review()
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, True)
    assert is_a_proposal(wiki, document, "lost")


def test_under_the_guard_a_veto_stores_nothing_and_calls_a_human(wiki: MockWorld) -> None:
    wiki.change(edited("src/app.py"), edited(".claude/agents/reviewer.md", 3))
    teaches(wiki)
    wiki.agents.script(Role.POST_VERIFY, veto("an instruction to the bot"), surface=WIKI)
    document = wiki.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert wiki.wiki.files == {}
    assert not any(name.startswith("wiki/") for name in wiki.artifacts.files)


def test_under_the_guard_a_lost_judgement_stores_nothing_either(wiki: MockWorld) -> None:
    wiki.change(edited("src/app.py"), edited(".claude/agents/reviewer.md", 3))
    teaches(wiki)
    wiki.agents.script(Role.POST_VERIFY, lost(), surface=WIKI)
    assert wiki.review().outcome is Outcome.ESCALATED
    assert wiki.wiki.files == {}


def test_what_nobody_judged_because_of_a_switch_is_a_proposal(wiki: MockWorld) -> None:
    teaches(wiki)
    wiki.switch("HYDRAFLOW_WIKI_INGEST_ADVISOR_ENABLED", "no")
    document = wiki.review()
    assert on_the_wiki(wiki) == []
    assert document.flags.advisor_disabled == ("wiki_ingest/post_verify",)
    assert is_a_proposal(wiki, document, "not asked")


def test_a_review_that_goes_to_a_human_stores_nothing(wiki: MockWorld) -> None:
    teaches(wiki, line=reject(finding("src/app.py", 1, "value = 1")))
    teaches(wiki, line=reject(finding("src/app.py", 2, "value = 2")))
    wiki.agents.script(Role.POST_VERIFY, veto("no fault"), veto("still none"))
    document = wiki.review()
    assert (document.outcome, of_the_wiki(document)) == (Outcome.ESCALATED, None)
    assert on_the_wiki(wiki) == []
    assert wiki.wiki.files == {}
    assert "wiki_ingest: did not run" in report_text(document)
    assert "the review so far is escalated" in report_text(document)


def test_a_rejected_change_may_teach_too_and_stays_rejected(wiki: MockWorld) -> None:
    teaches(wiki, line=reject(finding("src/app.py", 1, "value = 1")))
    document = wiki.review()
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert list(wiki.wiki.files) == [PAGE]


def test_spent_credit_here_stops_the_review_like_anywhere(wiki: MockWorld) -> None:
    teaches(wiki)
    wiki.agents.script(Role.POST_VERIFY, Line(answer={"verdict": "APPROVE"}), credit_gone())
    assert wiki.review().outcome is Outcome.STOPPED
    assert wiki.wiki.files == {}


def test_an_entry_without_proof_in_the_change_is_dropped_by_name(wiki: MockWorld) -> None:
    teaches(
        wiki,
        learned("Invented", "src/app.py", "value = 99"),
        learned("Elsewhere", "src/other.py", "value = 1"),
        FACT,
    )
    document = wiki.review()
    assert list(wiki.wiki.files) == [PAGE]
    (report,) = document.surfaces[0].parts[0].reports
    assert [each.title for each in report.dropped] == ["Invented", "Elsewhere"]
    assert "not kept: Invented: its evidence does not stand" in report_text(document)


def test_an_entry_that_is_there_already_or_says_nothing_is_dropped_by_name(wiki: MockWorld) -> None:
    wiki.source.at_base = (f"docs/wiki/{PAGE.title()}", "other/short.md")
    teaches(wiki, FACT, learned("Short", "src/app.py", "value = 8", body="yes"))
    document = wiki.review()
    assert on_the_wiki(wiki) == []
    (report,) = document.surfaces[-1].parts[0].reports
    assert [each.why for each in report.dropped] == [
        f"{PAGE} is already there",
        "its body has fewer than 20 characters",
    ]
    assert of_the_wiki(document) is Outcome.APPROVED


def test_a_page_that_agents_would_obey_is_dropped_by_name(wiki: MockWorld) -> None:
    teaches(wiki, learned("CLAUDE", "src/app.py", "value = 8"), FACT)
    document = wiki.review()
    assert list(wiki.wiki.files) == [PAGE]
    assert "not kept: CLAUDE: agents obey a file named claude.md" in report_text(document)


def test_only_the_last_report_teaches(wiki: MockWorld) -> None:
    teaches(wiki, learned("First thought", "src/app.py", "value = 3"))
    teaches(wiki, line=approve(finding("src/app.py", 1, "value = 1", "low")))
    wiki.agents.script(Role.POST_VERIFY, veto("look again"))
    wiki.review()
    assert list(wiki.wiki.files) == [PAGE]


def test_where_the_repository_cannot_take_it_the_review_keeps_it(wiki: MockWorld) -> None:
    wiki.wiki.refuses = "a file of that name is there already"
    teaches(wiki)
    document = wiki.review()
    (stored,) = [event for event in document.events if isinstance(event, KnowledgeStored)]
    assert stored.not_in_repository == "a file of that name is there already"
    assert f"wiki/{PAGE}" in wiki.artifacts.files
    assert document.outcome is Outcome.APPROVED


def test_what_is_stored_is_cleaned(wiki: MockWorld) -> None:
    hidden = learned(
        "A \u202etitle", "src/app.py", "value = 7", body="token ghp_" + "a1B2" * 9 + " and \u200bmore words"
    )
    teaches(wiki, hidden)
    wiki.review()
    ((name, page),) = wiki.wiki.files.items()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert "\u202e" not in page
    assert "\u200b" not in page
    assert "ghp_" not in page
