"""The harness's own secrets, and what looks like one: in no prompt, no event, no artefact and no line of a report."""

import base64
import json
from dataclasses import replace

import pytest
from tests.scenarios.reading import shown

from review_advisor.agents.calls import CreditExhaustedError, LostReason
from review_advisor.ledger.artifacts import review_files
from review_advisor.mockworld.agents import Line, approve, confirm, finding, guidance, plan, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.report import progress_line, report_text
from review_advisor.review.rulings import Outcome
from review_advisor.safety.secrets import REDACTED, mark

SECRET = "Zq7_pX2-mW9kLv4TbN8sYd3R"
SHAPED = "ghp_" + "A1b2C3d4" * 5
ITS_MARK = f"{mark('GitHub token')}_[*]"
FORMS = {
    "plain": SECRET,
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "hex": SECRET.encode().hex(),
    "reversed": SECRET[::-1],
    "cut": SECRET[7:],
    "looks like one": SHAPED,
}


def everything_told(world: MockWorld, document: OutcomeDocument) -> dict[str, str]:
    """Whatever leaves the review, by where it goes."""
    return {
        **{f"prompt {number}": call.prompt for number, call in enumerate(world.agents.asked)},
        "journal": repr(world.journal.events),
        "progress": "\n".join(progress_line(event) or "" for event in document.events),
        **review_files(document),
        **world.artifacts.files,
        **{f"wiki folder: {name}": page for name, page in world.wiki.files.items()},
    }


def leaks(told: dict[str, str], secret: str) -> list[str]:
    """Where eight characters or more of a form that begins or ends with the secret can be read."""
    pieces = (secret[:12], secret[-12:])
    return [where for where, text in told.items() if any(piece in text for piece in pieces)]


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_that_is_everywhere_is_told_nowhere(world: MockWorld, form: str) -> None:
    told = FORMS[form]
    world.switch("SOME_API_KEY", SECRET)
    world.change(edited("src/auth.py", text=f"key = '{told}'  # {{n}}"), edited(f"docs/{told}.py"), spec=f"use {told}")
    world.source.stated = replace(world.source.stated, title=f"Add {told}", body=f"It is {told}.", author=told)
    world.agents.script(Role.PRE_FLIGHT, plan(risk=told, focus=(told,), signals=(told,)))
    question = json.dumps({"question": f"is {told} real?", "context": told})
    shown_as = ITS_MARK if told == SHAPED else REDACTED
    quoting = finding("src/auth.py", 1, f"key = '{shown_as}'", title=told)
    world.agents.script(
        Role.EXECUTOR,
        approve(quoting, summary=told).after_asking(question),
        reject(quoting, finding(told, 1, told), summary=told),
    )
    world.agents.script(Role.MID_FLIGHT, guidance(action=told))
    world.agents.script(Role.POST_VERIFY, veto(told, reasoning=told, direction=told))
    document = world.review()
    assert leaks(everything_told(world, document), told) == []
    said = [found.evidence for found in document.findings if not found.harness]
    assert said == [f"key = '{shown_as}'"], "its quote still stands"
    assert shown_as in shown(world.calls(Role.EXECUTOR)[0], "DIFF")


def test_what_an_agent_says_of_its_own_end_is_redacted(world: MockWorld) -> None:
    world.switch("SOME_API_KEY", SECRET)
    world.agents.script(Role.EXECUTOR, Line(lost=LostReason.CRASH, stop=CreditExhaustedError(f"no credit on {SECRET}")))
    document = world.review()
    assert document.outcome is Outcome.STOPPED
    assert leaks(everything_told(world, document), SECRET) == []
    assert f"no credit on {REDACTED}" in report_text(document)


def test_a_common_word_as_a_value_blanks_nothing(world: MockWorld) -> None:
    world.switch("SOME_API_KEY", "production")
    world.change(edited("src/app.py", text="production = {n}"))
    world.review()
    assert shown(world.calls(Role.EXECUTOR)[0], "DIFF").count("production") == 30


def test_every_line_of_a_change_is_still_there(world: MockWorld) -> None:
    world.switch("SOME_API_KEY", SECRET)
    world.change(edited("src/app.py", text=f"x{{n}} = '{SECRET}'"))
    world.review()
    lines = [line for line in shown(world.calls(Role.EXECUTOR)[0], "DIFF").split("\n") if "+x" in line]
    assert [line.partition("+")[2] for line in lines] == [f"x{n} = '{REDACTED}'" for n in range(1, 31)]


def test_a_finding_on_a_file_whose_name_is_redacted_is_believed(world: MockWorld) -> None:
    world.change(edited(f"src/{SHAPED}.py"), edited("src/\u3164.py"))
    reported = finding(f"src/{ITS_MARK}.py", 1, "value = 1"), finding("src/<U+3164>.py", 2, "value = 2")
    world.agents.script(Role.EXECUTOR, reject(*reported))
    world.agents.script(Role.POST_VERIFY, confirm())
    document = world.review()
    assert [found.path for found in document.findings] == [f"src/{ITS_MARK}.py", "src/\u3164.py"]


def test_half_a_character_spoils_nothing(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(summary="cut \ud83d"))
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert "cut <U+D83D>" in outcome_json(document)


def test_a_line_that_was_shown_without_its_secret_is_named_in_the_report(world: MockWorld) -> None:
    world.change(edited("src/app.py", text='key = "ghp_' + "a1B2" * 9 + '"'))
    document = world.review()
    assert document.cut == ("what looks like a secret in src/app.py",)
    assert "shortened in the prompts: what looks like a secret in src/app.py" in report_text(document)


def test_a_secret_in_the_title_is_in_no_document(world: MockWorld) -> None:
    token = "ghp_" + "a1B2" * 9
    world.source.stated = replace(world.source.stated, title=f"use {token}")
    assert token not in outcome_json(world.review())
