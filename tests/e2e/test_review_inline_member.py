"""A whole review with the real CLI, on which an inline member advises."""

from __future__ import annotations

import json

from tests.e2e.review_answers import CODE_FILE, code, confirm, report
from tests.e2e.review_world import POST_VERIFY, ReviewWorld, role_of
from tests.e2e.stub_api import Reply, Request, structured

from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

POET = "---\nid: poet\non: finish\nmode: inline\n---\nYou read names aloud.\n"


def test_an_inline_member_advises_on_a_rejection(world: ReviewWorld) -> None:
    world.repo.write(".review-advisor/advisors/poet.md", POET)
    world.repo.commit("ask for a poet")
    world.change({CODE_FILE: code(3)})

    def reply(request: Request) -> Reply | None:
        if role_of(request) is not POST_VERIFY:
            return report("reject", "rounding", "overflow")
        if "Their advice is for people" in request.prompt:
            return structured({"poet": {"calls": json.dumps({"block": 90, "_reasoningForCall": "ugly names"})}})
        return confirm()

    world.api.script(reply)
    done = world.review()
    assert done.end == (Outcome.CHANGES_REQUESTED, 10)
    assert unsound(done.document.events) is None
    told = " ".join(done.text("report.txt").split())
    assert "poet: approve 0, request_changes 0, block 90: ugly names" in told
