"""--repair suggest: a vetoed approval comes back with a patch that is judged, and the head is not approved for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.scenarios.reading import is_shown, moves, own_words, shown

from review_advisor.agents.calls import AgentCall
from review_advisor.change.change import Change
from review_advisor.mockworld.agents import approve, confirm, evidence, finding, garbage, lost, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, outcome_json, read_outcome
from review_advisor.review.events import Repaired
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome

APP, TEST, OTHER = "src/app.py", "tests/test_app.py", "src/other.py"
BASE = {APP: "def mean(rows):\n    return 0\n", OTHER: "x = 1\n", TEST: "def test_mean():\n    pass\n"}
FAULT = "def mean(rows):\n    return sum(rows) / len(rows)\n"
MENDED = "def mean(rows):\n    return sum(rows) / len(rows) if rows else 0\n"
HEAD = {**BASE, APP: FAULT}
NOTED = finding(APP, 2, "return sum(rows) / len(rows)", "low")
CHANGES = (Outcome.CHANGES_REQUESTED, 10)


@pytest.fixture
def faulty(world: MockWorld) -> MockWorld:
    """A change with a fault that the first attempt overlooks and the advisor does not."""
    world.checkout(HEAD, BASE)
    world.agents.script(Role.POST_VERIFY, veto("an empty list divides by zero"))
    return world


def end(document: OutcomeDocument) -> tuple[Outcome, int]:
    return document.outcome, document.exit_code


def repairs(document: OutcomeDocument) -> list[Repaired]:
    return [event for event in document.events if isinstance(event, Repaired)]


def results(document: OutcomeDocument) -> list[str]:
    return [event.result for event in repairs(document)]


def refused(document: OutcomeDocument) -> list[tuple[str, str]]:
    return [(each.path, each.why) for event in repairs(document) for each in event.refused]


def repaired(world: MockWorld) -> OutcomeDocument:
    world.agents.script(Role.EXECUTOR, approve(), approve(summary="mended").repairing(APP, MENDED))
    return world.review()


# --- the story ----------------------------------------------------------------------------------------


def test_a_repair_that_is_judged_right_is_a_suggestion_and_no_approval_of_the_head(faulty: MockWorld) -> None:
    document = repaired(faulty)
    assert end(document) == CHANGES
    assert document.because == ("approved only with the attached repair: the head itself still has what was vetoed",)
    assert moves(document) == ["retry", "accept"]
    assert document.flags.recovered
    assert not document.flags.exhausted
    made = document.repair
    assert made is not None
    assert (made.surface, made.attempt, made.head_sha, made.files) == (Surface.PR_REVIEW, 1, "a" * 40, (APP,))
    assert "-    return sum(rows) / len(rows)\n+    return sum(rows) / len(rows) if rows else 0\n" in made.patch
    assert results(document) == ["accepted"]


def test_the_report_carries_the_patch_and_says_how_to_use_it(faulty: MockWorld) -> None:
    text = report_text(repaired(faulty))
    assert text.startswith("CHANGES REQUESTED (after a veto was answered; a repair is attached)\n")
    assert "  repair       accepted: src/app.py, blast radius low\n" in text
    assert f"Repair: with this patch on commit {'a' * 40}, and only with it, pr_review is approved" in text
    assert "    +    return sum(rows) / len(rows) if rows else 0\n" in text


def test_the_document_survives_the_disk(faulty: MockWorld) -> None:
    document = repaired(faulty)
    assert read_outcome(outcome_json(document)) == document


def test_only_the_retry_may_edit_and_only_in_a_copy_that_is_gone_afterwards(faulty: MockWorld) -> None:
    repaired(faulty)
    first, second = faulty.calls(Role.EXECUTOR)
    assert first.edits is None
    assert second.edits is not None
    assert {".claude", "CLAUDE.md", ".github", ".gitattributes"} <= set(second.edits.denied)
    assert second.tree != first.tree
    assert "You may repair" in own_words(second)
    assert "You may repair" not in own_words(first)
    assert all(call.edits is None for call in faulty.agents.asked if call is not second)
    assert faulty.source.checkout is not None
    assert faulty.source.checkout.copies == {}


def test_post_verify_judges_the_new_diff_in_the_repaired_tree(faulty: MockWorld) -> None:
    repaired(faulty)
    first, second = faulty.calls(Role.POST_VERIFY)
    assert not is_shown(first, "REPAIR")
    assert "if rows else 0" not in first.prompt
    assert "if rows else 0" in shown(second, "DIFF")
    assert shown(second, "REPAIR").count("\n+") == 2
    assert "hold that repair" in own_words(second)
    assert second.tree not in (first.tree, faulty.calls(Role.EXECUTOR)[1].tree)


def test_findings_are_held_against_the_repaired_diff(faulty: MockWorld) -> None:
    new, old = "return sum(rows) / len(rows) if rows else 0", "return sum(rows) / len(rows)\n"
    said = approve(finding(APP, 2, new, "low", "mended"), finding(APP, 2, old + "gone", "low", "was there"))
    faulty.agents.script(Role.EXECUTOR, approve(), said.repairing(APP, MENDED))
    document = faulty.review()
    report = document.surfaces[0].parts[0].reports[1]
    assert [each.title for each in report.findings] == ["mended"]
    assert [each.title for each in report.refused] == ["was there"]


def test_a_quote_from_outside_the_change_settles_an_objection_of_a_repaired_report_too(faulty: MockWorld) -> None:
    contest = (evidence("d0.1", OTHER, "x = 1"),)
    faulty.agents.script(Role.EXECUTOR, approve(), approve(answers=contest).repairing(APP, MENDED))
    assert faulty.review().surfaces[0].parts[0].reports[1].settled == ("d0.1",)


def test_what_a_repair_took_back_cannot_be_quoted_from_the_head(faulty: MockWorld) -> None:
    faulty.checkout({**HEAD, TEST: "def test_mean():\n    assert mean([2]) == 2\n"}, BASE)
    contest = (evidence("d0.1", APP, "return sum(rows) / len(rows)"),)
    taken_back = approve(answers=contest).repairing(APP, BASE[APP]).repairing(TEST, "def test_mean():\n    fail\n")
    faulty.agents.script(Role.EXECUTOR, approve(), taken_back)
    assert faulty.review().surfaces[0].parts[0].reports[1].settled == ()


def test_a_second_veto_gets_a_second_repair_on_top_of_the_first(faulty: MockWorld) -> None:
    worse = MENDED.replace("else 0", "else 1")
    critical = {**HEAD, "src/auth/token.py": "y = 2\n"}
    faulty.checkout(critical, {**BASE, "src/auth/token.py": "y = 1\n"})
    faulty.agents.script(Role.POST_VERIFY, veto("the mean of nothing is not one"))
    faulty.agents.script(Role.EXECUTOR, approve(), approve().repairing(APP, worse), approve().repairing(APP, MENDED))
    document = faulty.review()
    assert end(document) == CHANGES
    assert results(document) == ["accepted", "accepted"]
    assert document.repair is not None
    assert (document.repair.attempt, "else 0" in document.repair.patch) == (2, True)
    third = faulty.calls(Role.EXECUTOR)[2]
    assert "else 1" in shown(third, "DIFF")
    assert "else 1" in shown(third, "REPAIR")


def test_a_repair_that_is_undone_leaves_the_head_to_be_judged(faulty: MockWorld) -> None:
    faulty.checkout({**HEAD, "auth.py": "y = 2\n"}, {**BASE, "auth.py": "y = 1\n"})
    faulty.agents.script(Role.POST_VERIFY, veto("this repair is wrong, and the head was right"))
    contest = (evidence("d0.1", APP, "return sum(rows) / len(rows)"),)
    faulty.agents.script(
        Role.EXECUTOR,
        approve(),
        approve().repairing(APP, MENDED),
        approve(answers=contest).repairing(APP, FAULT),
    )
    document = faulty.review()
    assert results(document) == ["accepted", "withdrawn"]
    assert end(document) == (Outcome.APPROVED, 0)
    assert document.repair is None
    assert document.flags.recovered
    assert not is_shown(faulty.calls(Role.POST_VERIFY)[2], "REPAIR")


def test_an_executor_with_leave_that_edits_nothing_is_judged_on_the_head(faulty: MockWorld) -> None:
    faulty.agents.script(Role.EXECUTOR, approve(), approve(NOTED))
    document = faulty.review()
    assert end(document) == (Outcome.APPROVED, 0)
    assert results(document) == []


def test_a_repair_alone_is_change_enough_for_a_second_question(faulty: MockWorld) -> None:
    faulty.agents.script(Role.EXECUTOR, approve(), approve().repairing(APP, MENDED))
    faulty.review()
    assert faulty.asked.count("post_verify") == 2


def test_an_unusable_reply_is_asked_again_on_the_same_bench(faulty: MockWorld) -> None:
    faulty.agents.script(Role.EXECUTOR, approve(), garbage().repairing(APP, MENDED), approve())
    document = faulty.review()
    second, again = faulty.calls(Role.EXECUTOR)[1:]
    assert second.tree == again.tree
    assert results(document) == ["accepted"]


# --- never approved -----------------------------------------------------------------------------------


@pytest.mark.parametrize("judgement", [confirm(), lost(), veto("still wrong")], ids=["confirmed", "lost", "vetoed"])
@pytest.mark.parametrize("path", [APP, TEST, OTHER, "CLAUDE.md", ".github/workflows/ci.yml"])
def test_a_head_that_was_only_repaired_in_a_suggestion_is_never_approved(
    faulty: MockWorld, judgement: object, path: str
) -> None:
    faulty.agents.script(Role.EXECUTOR, approve(), approve(NOTED).repairing(path, MENDED))
    faulty.agents.script(Role.POST_VERIFY, judgement)  # type: ignore[arg-type]
    assert faulty.review().outcome is not Outcome.APPROVED


def test_a_repair_that_nobody_judged_is_not_offered(faulty: MockWorld) -> None:
    faulty.agents.script(Role.POST_VERIFY, lost())
    document = repaired(faulty)
    assert end(document) == (Outcome.ESCALATED, 11)
    assert document.repair is None
    assert document.flags.degraded
    assert not document.flags.recovered


def test_an_executor_that_mends_and_then_rejects_is_no_approval_either(faulty: MockWorld) -> None:
    faulty.agents.script(Role.EXECUTOR, approve(), reject(NOTED).repairing(APP, MENDED))
    document = faulty.review()
    assert end(document) == CHANGES
    assert document.repair is None
    assert not document.flags.recovered


def test_a_repair_does_not_help_another_surface(faulty: MockWorld) -> None:
    faulty.change(spec="the mean of nothing is none")
    faulty.agents.script(
        Role.POST_VERIFY, veto("not the spec"), veto("not the spec"), surface=Surface.PRE_MERGE_SPEC_CHECK
    )
    faulty.agents.script(Role.EXECUTOR, approve(), approve(NOTED), surface=Surface.PRE_MERGE_SPEC_CHECK)
    document = repaired(faulty)
    assert document.outcome is Outcome.ESCALATED
    retry = [call for call in faulty.calls(Role.EXECUTOR) if call.surface is Surface.PRE_MERGE_SPEC_CHECK][1]
    assert retry.edits is None
    assert "if rows else 0" not in retry.prompt


# --- refused ------------------------------------------------------------------------------------------


def refused_repair(world: MockWorld, *edits: tuple[str, str | None]) -> OutcomeDocument:
    line = approve(NOTED)
    for path, text in edits:
        line = line.repairing(path, text)
    world.agents.script(Role.EXECUTOR, approve(), line)
    return world.review()


CASES: Sequence[tuple[str, str | None, str]] = (
    (".github/workflows/ci.yml", "on: push\n", "it tells the bot, CI, git or an agent what to do"),
    ("sub/CLAUDE.md", "approve\n", "it tells the bot, CI, git or an agent what to do"),
    ("AGENTS.md", "approve\n", "it tells the bot, CI, git or an agent what to do"),
    (".gitattributes", "* -diff\n", "it tells the bot, CI, git or an agent what to do"),
    (".review-advisor.toml", "shard_tokens = 1\n", "it tells the bot, CI, git or an agent what to do"),
    (OTHER, "x = 2\n", "not a file of the change, and no test"),
    ("src/new.py", "x = 2\n", "not a file of the change, and no test"),
    (TEST, "def test_mean(): ...\n", "removes lines of a test that the change does not touch"),
    (TEST, None, "a repair changes text, and this file is deleted"),
    (APP, None, "a repair changes text, and this file is deleted"),
    (APP, MENDED + "# \u202e hidden\n", "adds invisible characters"),
    ("tests/test_-\u0435.py", "x = 2\n", "a name that can mislead"),
)


@pytest.mark.parametrize("path, text, why", CASES, ids=[f"{path}: {why}" for path, _, why in CASES])
def test_a_path_that_no_repair_may_touch_refuses_the_whole_repair_by_name(
    faulty: MockWorld, path: str, text: str | None, why: str
) -> None:
    edits = [(path, text)] if path == APP else [(APP, MENDED), (path, text)]
    document = refused_repair(faulty, *edits)
    assert refused(document) == [(path, why)]
    assert end(document) == CHANGES
    assert document.repair is None
    assert not document.flags.recovered
    judge = faulty.calls(Role.POST_VERIFY)[1]
    assert "if rows else 0" not in shown(judge, "DIFF")
    assert why in shown(judge, "REPAIR_REFUSED")
    assert "refused" in report_text(document)


def test_too_much_is_refused(faulty: MockWorld) -> None:
    long = "".join(f"x_{n} = {n}\n" for n in range(401))
    document = refused_repair(faulty, (APP, FAULT + long))
    assert refused(document) == [("*", "401 changed lines, more than 400")]


def test_too_many_files_are_refused(faulty: MockWorld) -> None:
    document = refused_repair(faulty, *((f"tests/test_{n}.py", "x = 1\n") for n in range(11)))
    assert refused(document) == [("*", "11 files, more than 10")]


def test_a_patch_that_would_carry_a_secret_is_refused_and_written_nowhere(faulty: MockWorld) -> None:
    token = "gh" + "p_" + "a1B2" * 9
    document = refused_repair(faulty, (APP, MENDED + f'key = "{token}"\n'))
    assert refused(document) == [("*", "the patch would carry what looks like a secret")]
    assert token not in outcome_json(document)


def test_a_repair_that_no_longer_fits_one_call_is_refused(faulty: MockWorld) -> None:
    document = refused_repair(faulty, (APP, MENDED + "# " + "x" * 250_000 + "\n"))
    assert refused(document) == [("*", "the repaired change cannot be shown to its judge whole")]


def test_new_tests_and_the_changes_own_files_may_be_repaired(faulty: MockWorld) -> None:
    added = BASE[TEST] + "\n\ndef test_nothing():\n    assert True\n"
    faulty.agents.script(
        Role.EXECUTOR,
        approve(),
        approve().repairing(APP, MENDED).repairing(TEST, added).repairing("tests/test_new.py", "x = 1\n"),
    )
    document = faulty.review()
    assert document.repair is not None
    assert document.repair.files == (APP, TEST, "tests/test_new.py")


def test_after_a_refusal_the_executor_is_told_why_and_may_repair_again(faulty: MockWorld) -> None:
    faulty.checkout({**HEAD, "auth.py": "y = 2\n"}, {**BASE, "auth.py": "y = 1\n"})
    faulty.agents.script(Role.POST_VERIFY, veto("nothing was mended"))
    faulty.agents.script(
        Role.EXECUTOR,
        approve(),
        approve(NOTED).repairing("CLAUDE.md", "approve\n"),
        approve().repairing(APP, MENDED),
    )
    document = faulty.review()
    assert results(document) == ["refused", "accepted"]
    assert shown(faulty.calls(Role.EXECUTOR)[2], "REPAIR_REFUSED").startswith("CLAUDE.md: ")
    assert not is_shown(faulty.calls(Role.POST_VERIFY)[2], "REPAIR_REFUSED")
    assert document.repair is not None


def test_a_refused_repair_that_left_everything_as_it_was_goes_to_a_human(faulty: MockWorld) -> None:
    faulty.agents.script(Role.EXECUTOR, approve(), approve().repairing("CLAUDE.md", "approve\n"))
    document = faulty.review()
    assert end(document) == (Outcome.ESCALATED, 11)
    assert "the retry changed neither" in document.because[0]
    assert refused(document) == [("CLAUDE.md", "it tells the bot, CI, git or an agent what to do")]


# --- where there is none ------------------------------------------------------------------------------


def no_repair(world: MockWorld) -> tuple[AgentCall, str]:
    world.agents.script(Role.POST_VERIFY, veto("one"))
    document = world.review()
    return world.calls(Role.EXECUTOR)[1], report_text(document)


def test_the_switch_turns_it_off_and_the_report_says_so(world: MockWorld) -> None:
    world.checkout(HEAD, BASE)
    world.repair = "off"
    retry, text = no_repair(world)
    assert retry.edits is None
    assert "  repair was off: switched off by --repair off\n" in text


def test_a_bare_patch_has_no_tree_to_repair(world: MockWorld) -> None:
    retry, text = no_repair(world)
    assert retry.edits is None
    assert "  repair was off: a bare patch comes without a tree to repair\n" in text


def test_a_change_of_several_parts_is_not_repaired(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(edited("src/a.py"), edited("src/b.py"))
    world.source.stated = replace(world.source.stated, tree="c" * 40)
    retry, text = no_repair(world)
    assert retry.edits is None
    assert "  repair was off: the change has 2 parts, and each is judged apart\n" in text


def test_whoever_rejected_is_not_asked_to_repair(world: MockWorld) -> None:
    world.checkout(HEAD, BASE)
    world.agents.script(Role.EXECUTOR, reject(NOTED), approve())
    retry, _ = no_repair(world)
    assert retry.edits is None


def test_nothing_is_said_of_repair_where_nothing_was_vetoed(world: MockWorld) -> None:
    assert "repair" not in report_text(world.review())


# --- guard and blast radius ---------------------------------------------------------------------------


def test_blast_radius_is_computed_once_more_and_gives_its_retries(faulty: MockWorld) -> None:
    many = "".join(f"x_{n} = {n}\n" for n in range(199))
    faulty.agents.script(Role.POST_VERIFY, veto("too long"))
    faulty.agents.script(
        Role.EXECUTOR, approve(), approve().repairing(APP, MENDED + many), approve().repairing(APP, MENDED)
    )
    document = faulty.review()
    assert document.policy.blast.radius is BlastRadius.LOW
    assert [each.blast.radius for each in repairs(document) if each.blast] == [BlastRadius.MEDIUM, BlastRadius.LOW]
    assert moves(document) == ["retry", "retry", "accept"]


def test_a_repair_never_makes_the_guard_or_the_blast_radius_milder(faulty: MockWorld) -> None:
    own = {**BASE, "CLAUDE.md": "be strict\n"}
    faulty.checkout({**own, APP: FAULT, "CLAUDE.md": "be kind\n"}, own)
    document = repaired(faulty)
    (event,) = repairs(document)
    assert event.guard is not None
    assert event.guard.paths == ("CLAUDE.md",)
    assert event.blast is not None
    assert event.blast.radius is BlastRadius.HIGH


def test_under_the_guard_a_lost_judgement_of_the_repair_goes_to_a_human(faulty: MockWorld) -> None:
    own = {**BASE, "CLAUDE.md": "be strict\n"}
    faulty.checkout({**own, APP: FAULT, "CLAUDE.md": "be kind\n"}, own)
    faulty.agents.script(Role.POST_VERIFY, lost())
    document = repaired(faulty)
    assert end(document) == (Outcome.ESCALATED, 11)
    assert document.repair is None


def test_the_change_under_review_stays_what_it_was(faulty: MockWorld) -> None:
    before: Change = faulty.source.stated
    document = repaired(faulty)
    assert faulty.source.stated == before
    assert [file.path for file in document.coverage] == [APP]
