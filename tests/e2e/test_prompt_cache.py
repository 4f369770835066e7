"""The change is paid for once: on the wire, a later call of a role begins with what an earlier one has marked."""

from __future__ import annotations

import json

import pytest
from tests.e2e.prompt_cache import MOST_MARKS, counted, marks, our_mark, prefixes
from tests.e2e.review_answers import CODE_FILE, code, confirm, plan, report, veto
from tests.e2e.review_world import EXECUTOR, POST_VERIFY, PRE_FLIGHT, ReviewWorld, fences, may_repair
from tests.e2e.stub_api import Reply, Request, consult, several, tool_use

from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

BLIND = "metadata_blind = true\n"


def first_of_each_call(world: ReviewWorld, role: Role) -> list[Request]:
    return [request for request in world.of(role) if len(request.body["messages"]) <= 2]


def begins_with_the_mark_of(first: Request, later: Request) -> bool:
    place = our_mark(first)
    return prefixes(later)[: place + 1] == prefixes(first)[: place + 1]


@pytest.fixture
def vetoed(world: ReviewWorld) -> ReviewWorld:
    """A change of 200 lines of ordinary length: approved, vetoed, approved after a second look, and confirmed."""
    world.change({CODE_FILE: "".join(f"{line}  # ordinary length\n" for line in code(200).splitlines())})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, report(), report("approve", "second look"))
    world.says(POST_VERIFY, veto(), confirm())
    return world


def test_a_retry_begins_byte_for_byte_with_what_the_first_attempt_marked(vetoed: ReviewWorld) -> None:
    assert vetoed.review().document.outcome is Outcome.APPROVED
    for role in (EXECUTOR, POST_VERIFY):
        first, second = first_of_each_call(vetoed, role)
        assert begins_with_the_mark_of(first, second), role
        assert json.dumps(fences(first)["DIFF"])[1:-1] in prefixes(first)[our_mark(first)], role
    assert [may_repair(request) for request in first_of_each_call(vetoed, EXECUTOR)] == [False, True]


def test_a_retry_pays_full_price_for_a_seventh_of_the_first_attempt_at_most(vetoed: ReviewWorld) -> None:
    vetoed.review()
    paid = {id(each.request): each for each in counted(vetoed.api.requests)}
    for role in (EXECUTOR, POST_VERIFY):
        first, second = (paid[id(request)] for request in first_of_each_call(vetoed, role))
        assert second.full_price <= 0.15 * first.full_price, (role, second.full_price, first.full_price)


def test_the_diff_has_a_tenth_more_characters_than_gits_at_most(vetoed: ReviewWorld) -> None:
    vetoed.review()
    whole = vetoed.repo.git("diff", "HEAD~1..HEAD").decode()
    assert {len(fences(request)["DIFF"]) <= 1.1 * len(whole) for request in vetoed.api.requests} == {True}


def test_a_plan_is_asked_for_once_and_put_into_no_cache(vetoed: ReviewWorld) -> None:
    vetoed.review()
    assert [marks(request) for request in vetoed.of(PRE_FLIGHT)] == [[]]


def test_no_request_has_more_marks_than_the_api_takes(vetoed: ReviewWorld) -> None:
    vetoed.review()
    assert max(len(marks(request)) for request in vetoed.api.requests) == MOST_MARKS


def test_the_pass_on_the_diff_alone_shares_its_beginning_with_the_attempts(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)}, message="The words of the author")
    world.says(EXECUTOR, report(), report())
    world.says(POST_VERIFY, confirm())
    world.review(config=BLIND)
    alone, attempt = first_of_each_call(world, EXECUTOR)
    assert "The words of the author" not in alone.prompt
    assert "The words of the author" in attempt.prompt
    assert begins_with_the_mark_of(alone, attempt)
    assert [each.read for each in counted([alone, attempt])][1] == len(prefixes(alone)[our_mark(alone)])


def test_a_tool_that_is_listed_for_the_cache_alone_is_refused(world: ReviewWorld) -> None:
    """Neither the pass on the diff alone nor a first attempt may edit, and the first may not consult."""
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, *TRIES, consult("Is it safe?"), report(), *TRIES, report())
    world.says(POST_VERIFY, confirm())
    done = world.review(config=BLIND)
    assert done.document.outcome is Outcome.APPROVED
    said = [result for request in world.of(EXECUTOR) for result in request.tool_results]
    refused = [each for each in said if "has no leave" in each or "denied" in each]
    assert len(refused) == len(set(map(id, said))) == 2 * len(TRIES) + 1, said
    assert world.of(Role.MID_FLIGHT) == []


def _write(path: str) -> Reply:
    return several(tool_use("Write", file_path=path, content="planted\n"))


TRIES = (_write("planted.py"), _write(".github/workflows/x.yml"), _write("/tmp/planted-by-a-test.py"))
