"""Whatever JSON a model answers with, the review ends in a stated outcome, and nothing unprintable comes in by it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.ledger.artifacts import review_files
from review_advisor.mockworld.agents import Line, approve, evidence, finding, guidance, learned, plan, reject, veto
from review_advisor.mockworld.world import FakeSource, MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json, read_outcome
from review_advisor.review.rulings import Outcome

NASTY = [
    *("\0", "\x1b[2J", "\r", "\x7f", "\x85", "\x9b", "\ud800", "\udfff", "\ufdd0", "\ufffe", "\U0010ffff"),
    *("../../etc/passwd", "/etc/passwd", "-x", "", " ", "\0nonce\0", "src/app.py\0", "\u202e", "a\r\nb"),
]
UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=20))
NUMBERS = st.one_of(st.sampled_from([10**400, -(10**400), float("nan"), float("inf"), -1, 0, 1e308]), st.integers())
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
PROOF = evidence("1.1", "src/other.py", "value = 1")
SAID = {
    Role.PRE_FLIGHT: plan("a risk", ("src/app.py",), ("a signal",)),
    Role.EXECUTOR: reject(finding("src/app.py", 1, "value = 1"), answers=(PROOF,)).teaching(
        learned("a fact", "src/app.py", "value = 1", tags=("tag",))
    ),
    Role.MID_FLIGHT: guidance("look again"),
    Role.POST_VERIFY: veto("it breaks", direction="mend it"),
}


class Watched(FakeSource):
    """A source that knows which files it was asked for."""

    def __init__(self, source: FakeSource) -> None:
        super().__init__(source.stated, {"src/other.py": "value = 1\n"})
        self.asked: list[str] = []

    def head_text(self, path: str) -> str | None:
        self.asked.append(path)
        return super().head_text(path)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside of a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, inner in inside:
        yield (*at, key)
        yield from places(inner, (*at, key))


@st.composite
def answers(draw: st.DrawFn, role: Role) -> dict[str, Any]:
    """What the role could have said, with a few of its values become anything; or anything from the start."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.dictionaries(TEXTS, VALUES, max_size=4))
    answer: Any = json.loads(json.dumps(SAID[role].answer))
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(answer))
        if not found:
            break
        *way, last = draw(st.sampled_from(found))
        place = answer
        for step in way:
            place = place[step]
        old = place[last]
        told = f"{old}{draw(TEXTS)}" if isinstance(old, str) and draw(st.booleans()) else draw(VALUES)
        place[last] = told
        if isinstance(place, dict) and draw(st.booleans()):
            place[draw(TEXTS)] = deepcopy(told)
    return answer  # type: ignore[no-any-return]


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    inside = [*value.keys(), *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    for inner in inside:
        yield from texts_in(inner)


def reviewed(role: Role, said: dict[str, Any]) -> tuple[MockWorld, OutcomeDocument]:
    """A review in which one role says that, as often as it is asked."""
    world = MockWorld()
    world.source = Watched(world.source)
    world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "true")
    executor = approve().after_asking("is it right?", json.dumps({"question": "a\0b\ud800", **said}))
    lines = {Role.EXECUTOR: executor, Role.POST_VERIFY: SAID[Role.POST_VERIFY], role: Line(said)}
    lines[Role.EXECUTOR] = Line(lines[Role.EXECUTOR].answer, questions=executor.questions)
    for each, line in lines.items():
        world.agents.script(each, *[line] * 8)
    return world, world.review()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("role", SAID)
@given(data=st.data())
def test_any_answer_of_any_role_ends_in_a_stated_outcome(role: Role, data: st.DataObject) -> None:
    world, document = reviewed(role, data.draw(answers(role)))
    assert document.outcome in Outcome
    assert read_outcome(outcome_json(document).encode()).outcome is document.outcome
    written = [*world.artifacts.files.values(), *review_files(document).values()]
    told = [*texts_in(json.loads(outcome_json(document))), *written, *world.source.asked]  # type: ignore[attr-defined]
    assert [text for text in told if UNPRINTABLE.search(text)] == []


@pytest.mark.parametrize("role", SAID)
def test_an_answer_nested_without_end_ends_in_a_stated_outcome(role: Role) -> None:
    nested: Any = "the end"
    for _ in range(450):
        nested = [nested]
    answer = SAID[role].answer or {}
    _, deep = reviewed(role, {**answer, "notes": nested})
    _, plain = reviewed(role, answer)
    assert (deep.outcome, deep.because) == (plain.outcome, plain.because)
