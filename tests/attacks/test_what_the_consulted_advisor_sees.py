"""Every attack as an executor's question, as the consulted advisor sees it: only inside the fence, and to be seen."""

from __future__ import annotations

import pytest
from tests.attacks.obedient import ObedientAgent
from tests.attacks.payloads import ATTACKS, GUESSED_NONCE, PLANTED

from review_advisor.agents.calls import ConsultGrant, Granted
from review_advisor.agents.mid_flight import QUESTION_OPENING
from review_advisor.change.redaction import NO_SECRETS
from review_advisor.policy.budgets import Budgets
from review_advisor.review.consults import ReviewConsults
from review_advisor.safety.fence import fenced

NONCE = "n0nce-7f3a"
SENTINEL = f"<!-- ours nonce={NONCE} -->"


def asked(question: str) -> str:
    """The whole prompt of the advisor that is asked so."""
    grant = ConsultGrant("advisor", "You advise.", "opus", SENTINEL, NONCE)
    granted = ReviewConsults(Budgets(max_usd=1.0), NO_SECRETS).of_call(grant).ask("t1", question)
    assert isinstance(granted, Granted)
    return granted.prompt


def outside(prompt: str) -> str:
    """What a reader sees who trusts only the fences of this run."""
    inside = fenced(prompt, "QUESTION", NONCE)
    assert inside is not None
    return prompt.replace(inside, "")


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_reaches_the_advisor_from_outside_its_fence(attack: str) -> None:
    text = ATTACKS[attack].text(NONCE)
    prompt = asked(text)
    assert prompt.startswith(f"{SENTINEL}\n{QUESTION_OPENING}\n<<<UNTRUSTED QUESTION {NONCE}\n")
    assert prompt.endswith(f"\nQUESTION {NONCE} UNTRUSTED>>>")
    assert outside(prompt).count(NONCE) == prompt.count(NONCE) == 3
    assert outside(prompt) == outside(asked(ATTACKS[attack].twin))
    assert not set(prompt) & set("\u202e\u2066\u200b\x1b")
    assert not any("\U000e0000" <= letter <= "\U000e0fff" for letter in prompt)
    assert not any(secret in prompt for secret in PLANTED)


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in {"forged fence end", "huge line"}])
def test_each_works_on_an_advisor_that_is_asked_in_plain_words(attack: str) -> None:
    bare = ObedientAgent(str)
    assert bare.heard(ATTACKS[attack].text(NONCE)), GUESSED_NONCE
