"""The prompt texts: what they say, where each rule comes from, how long they are, and what they are known by."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.scenarios.reading import own_words

import review_advisor
from review_advisor.agents.prompts import WORDS, Instructions
from review_advisor.app.configuration import load_instructions
from review_advisor.mockworld.agents import approve, confirm, finding, lost, plan, veto
from review_advisor.mockworld.world import INSTRUCTIONS, MockWorld
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import OfCall

AGENTS = Path(review_advisor.__file__).parent / "agents"
SHIPPED = load_instructions()
RULES = tomllib.loads((AGENTS / "sources.toml").read_text(encoding="utf-8"))["rule"]
EXECUTOR = " ".join(SHIPPED.texts["executor"].split())
MOST_OF_OURS = 4_000
"""Characters that a tool-less call of an advisor may take beside its material."""
DIGEST_OF_WORDS = "d5d528ddb769a939"


@pytest.fixture
def world() -> Iterator[MockWorld]:
    world = MockWorld()
    yield world
    world.finish()


def joined(text: str) -> str:
    """Words of a text or a source file on one line, whatever breaks them."""
    return " ".join(re.sub(r'"\n\s+f?"', "", text).split())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["id"])
def test_a_rule_stands_once_where_its_source_is_named(rule: dict[str, str]) -> None:
    assert rule.keys() == {"id", "file", "words", "source"}
    text = joined((AGENTS / rule["file"]).read_text(encoding="utf-8"))
    assert text.count(joined(rule["words"])) == 1
    assert len(rule["source"]) > len("ours")


def test_no_two_rules_have_one_name() -> None:
    assert len({rule["id"] for rule in RULES}) == len(RULES)


def test_every_paragraph_of_the_executors_prompt_has_a_source() -> None:
    paragraphs = [
        " ".join(each.split()) for each in re.split(r"^- ", SHIPPED.texts["executor"], flags=re.MULTILINE)[1:]
    ]
    sourced = [joined(rule["words"]) for rule in RULES if rule["file"] == "executor.md"]
    assert [each for each in paragraphs if not any(words in each for words in sourced)] == []


def test_no_rule_against_noise_holds_back_what_is_grave() -> None:
    noise, _, rest = EXECUTOR.partition("No findings:")[2].partition("praise.")
    assert "linter" in noise
    assert rest.startswith(" None of this holds back a fault that is critical or high.")


def test_what_a_tool_less_advisor_call_adds_to_its_material_is_bounded(world: MockWorld) -> None:
    world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "true")
    world.review()
    (call,) = world.calls(Role.PRE_FLIGHT)
    assert call.tree is None
    ours = len(own_words(call)) + len(SHIPPED.system_prompt(Role.PRE_FLIGHT, Surface.PR_REVIEW))
    assert ours <= MOST_OF_OURS


def test_every_event_of_a_call_says_by_which_prompts_it_was_asked(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is it right?"))
    world.agents.script(Role.POST_VERIFY, lost())
    document = world.review()
    told = {(event.kind, event.prompts) for event in document.events if isinstance(event, OfCall)}
    kinds = {"call_started", "call_ended", "consulted", "planned", "reported"}
    assert told == {(kind, INSTRUCTIONS.version) for kind in kinds}


def test_another_text_is_another_version() -> None:
    version = SHIPPED.version
    assert re.fullmatch(rf"{WORDS}\.[0-9a-f]{{10}}", version)
    assert load_instructions().version == version
    for name in SHIPPED.texts:
        changed = Instructions({**SHIPPED.texts, name: SHIPPED.texts[name] + " "})
        assert changed.version != version


def test_the_words_of_the_code_are_those_of_their_version(world: MockWorld) -> None:
    """Whoever changes them raises ``WORDS`` and records the digest here."""
    world.source.guidelines = {"REVIEW.md": "a rule"}
    world.rules = replace(world.rules, metadata_blind=True, wiki_folder="wiki", language="German")
    world.source.tree = Path("tree")
    world.source.texts = {"src/app.py": "def sell():\n" + "    pay()\n" * 40, "src/a.py": "sell()\n" * 9}
    world.change(spec="a spec", prior_fix_attempts=1)
    low = finding("src/app.py", 4, "value = 4", "low") | {"rule": "REVIEW.md:1"}
    world.agents.script(Role.PRE_FLIGHT, plan(signals=("a clash",)))
    world.agents.script(Role.EXECUTOR, approve(), approve(low).after_asking("Is it right?"), approve(summary="again"))
    world.agents.script(Role.POST_VERIFY, veto("a hole"), confirm(), confirm())
    world.review()
    words = [own_words(call).replace(world.run_id, "").replace(world.nonce, "") for call in world.agents.asked]
    assert (WORDS, hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]) == (7, DIGEST_OF_WORDS)
