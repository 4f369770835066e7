"""Every attack as an executor's question, as the consulted advisor sees it: only inside the fence, and to be seen."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from tests.attacks.obedient import ObedientAgent
from tests.attacks.payloads import ATTACKS, GUESSED_NONCE, PLANTED

from review_advisor.adapters.claude import consult_hook
from review_advisor.core.roles.mid_flight import QUESTION_OPENING
from review_advisor.core.safety import frame, secret_shapes
from review_advisor.core.safety.fence import fenced

NONCE = "n0nce-7f3a"
SENTINEL = f"<!-- ours nonce={NONCE} -->"


def asked(question: str, folder: Path, patch: pytest.MonkeyPatch) -> str:
    """What the hook makes of a question: the whole prompt of the advisor."""
    state = folder / "state"
    state.mkdir()
    private = consult_hook.keep_private(folder, {"opening": f"{SENTINEL}\n{QUESTION_OPENING}", "nonce": NONCE})
    words = {"state": state, "call": "call-1", "cap": 5, "max-refunds": 3, "subagent-type": "advisor"}
    words |= {"private": private, "secret-shapes": secret_shapes.__file__, "frame": frame.__file__}
    event = {"hook_event_name": "PreToolUse", "tool_use_id": "t1", "tool_input": {"prompt": question}}
    said = io.StringIO()
    patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    patch.setattr(sys, "stdout", said)
    consult_hook.main([f"--{name}={value}" for name, value in words.items()])
    patch.undo()
    prompt: str = json.loads(said.getvalue())["hookSpecificOutput"]["updatedInput"]["prompt"]
    return prompt


def outside(prompt: str) -> str:
    """What a reader sees who trusts only the fences of this run."""
    inside = fenced(prompt, "QUESTION", NONCE)
    assert inside is not None
    return prompt.replace(inside, "")


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_reaches_the_advisor_from_outside_its_fence(
    attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ATTACKS[attack].text(NONCE)
    prompt = asked(text, tmp_path, monkeypatch)
    assert prompt.startswith(f"{SENTINEL}\n{QUESTION_OPENING}\n<<<UNTRUSTED QUESTION {NONCE}\n")
    assert prompt.endswith(f"\nQUESTION {NONCE} UNTRUSTED>>>")
    assert outside(prompt).count(NONCE) == prompt.count(NONCE) == 3
    assert outside(prompt) == outside(asked_twin(attack, tmp_path, monkeypatch))
    assert not set(prompt) & set("\u202e\u2066\u200b\x1b")
    assert not any("\U000e0000" <= letter <= "\U000e0fff" for letter in prompt)
    assert not any(secret in prompt for secret in PLANTED)


def asked_twin(attack: str, folder: Path, patch: pytest.MonkeyPatch) -> str:
    (folder / "twin").mkdir()
    return asked(ATTACKS[attack].twin, folder / "twin", patch)


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in {"forged fence end", "huge line"}])
def test_each_works_on_an_advisor_that_is_asked_in_plain_words(attack: str) -> None:
    bare = ObedientAgent(str)
    assert bare.heard(ATTACKS[attack].text(NONCE)), GUESSED_NONCE
