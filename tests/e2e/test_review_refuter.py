"""A whole review with the real CLI, whose rejection a refuter checks and on which an inline member advises."""

from __future__ import annotations

import json

from tests.e2e.review_answers import CODE_FILE, code, confirm, report
from tests.e2e.review_world import POST_VERIFY, ReviewWorld, role_of
from tests.e2e.stub_api import Reply, Request, structured

from review_advisor.review.document import blocking_findings
from review_advisor.review.events import Challenged
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

POET = "---\nid: poet\non: finish\nmode: inline\n---\nYou read names aloud.\n"


def test_a_refuter_reads_the_tree_and_an_inline_member_advises(world: ReviewWorld) -> None:
    world.repo.write(".review-advisor.toml", "[advisors]\nrefuter = true\n")
    world.repo.write(".review-advisor/advisors/poet.md", POET)
    world.repo.write("shop/tax.py", "RATE = 0.19\n")
    world.repo.commit("ask for a refuter")
    world.change({CODE_FILE: code(3)})

    def reply(request: Request) -> Reply | None:
        if role_of(request) is not POST_VERIFY:
            return report("reject", "rounding", "overflow")
        if "You are the refuter." in request.prompt:
            quote = {"path": "shop/tax.py", "quote": "RATE = 0.19"}
            said = {"verdict": "refuted", "reasoning": "the rate is exact"}
            return structured({**said, **(quote if '"title": "about rounding"' in request.prompt else {})})
        if "Their advice is for people" in request.prompt:
            return structured({"poet": {"calls": json.dumps({"block": 90, "_reasoningForCall": "ugly names"})}})
        return confirm()

    world.api.script(reply)
    done = world.review()
    assert done.end == (Outcome.CHANGES_REQUESTED, 10)
    assert unsound(done.document.events) is None
    said = [event.words for event in done.document.events if isinstance(event, Challenged)]
    assert sorted(said) == ["refuted", "refuted without proof, so it stands"]
    blocking = blocking_findings(done.document)
    assert [each.title for each in done.document.findings if each.id in blocking] == ["about overflow"]
    told = " ".join(done.text("report.txt").split())
    assert "the rate is exact" in told
    assert "poet: approve 0, request_changes 0, block 90: ugly names" in told
