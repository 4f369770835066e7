"""The build that these attacks are about: the same pipeline with its defences taken out.

It exists to show that each attack works where nothing stops it. Text is pasted as it comes, or between marks
that anybody can write; nothing is cleaned, bounded or cut into parts; secrets pass; and of a pull request everything is
read that people wrote there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from tests.attacks import on_github
from tests.attacks.obedient import Strip, nonce_fences_removed

from review_advisor.agents import prompts
from review_advisor.agents import roles as advisors
from review_advisor.agents.answers import Consult, Guidance, PostVerifyResult, ReviewReport
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.change import diff_text, redaction
from review_advisor.review import consults as review_consults
from review_advisor.review import council as review_council
from review_advisor.review import dispatch
from review_advisor.review import loop as review_loop
from review_advisor.safety import fence as fence_room
from review_advisor.safety.stop import ConsultRecord

_STATIC = re.compile(r"<<<UNTRUSTED [A-Z_]+\n.*?[A-Z]+ UNTRUSTED>>>", re.DOTALL)


class LooseReport(ReviewReport):
    """A report of any length."""

    summary: str


class LooseJudgement(PostVerifyResult):
    """A judgement of any length."""

    reasoning: str


def pasted(label: str, text: str, nonce: str, *, is_masked: bool = False) -> str:
    """No fence at all."""
    return f"{label}:\n{text}"


def marked(label: str, text: str, nonce: str, *, is_masked: bool = False) -> str:
    """A fence without a nonce."""
    return f"<<<UNTRUSTED {label}\n{text}\n{label} UNTRUSTED>>>"


def believing(label: str, text: str, nonce: str, *, is_masked: bool = False) -> str:
    """A fence whose nonce is left in the text."""
    return f"<<<UNTRUSTED {label} {nonce}\n{text}\n{label} {nonce} UNTRUSTED>>>"


def unfenced(patch: pytest.MonkeyPatch, attack: str) -> Strip:
    """Take the defences out, and say how such a build's agent tells fenced text from the rest."""
    fence: Callable[..., str] = pasted
    strip: Strip = str
    if attack == "forged fence end":
        fence, strip = marked, lambda prompt: _STATIC.sub("", prompt)
    elif attack == "forged fence end with the leaked nonce":
        fence, strip = believing, nonce_fences_removed_anywhere
    elif attack == "invisible and bidi characters":
        fence, strip = believing, nonce_fences_removed
    patch.setattr(on_github, "read", on_github.read_all)
    for module in (fence_room, prompts):
        patch.setattr(module, "fence", fence)
    patch.setattr(diff_text, "shown_path", str)
    patch.setattr(prompts, "shown_path", str)
    patch.setattr(prompts, "bounded", lambda text, most: text)
    patch.setattr(redaction.Redactor, "redact", lambda self, text: text)
    patch.setattr(redaction.Redactor, "in_prompt", lambda self, text: text)
    patch.setattr(redaction.Redactor, "everywhere", lambda self, value: value)
    patch.setattr(advisors, "ReviewReport", LooseReport)
    patch.setattr(advisors, "PostVerifyResult", LooseJudgement)
    patch.setattr(dispatch, "read_consult", _any_consult)
    patch.setattr(review_consults, "question_shown", lambda question, redactor: question)
    patch.setattr(review_consults, "_KEPT", 10**9)
    patch.setattr(review_loop, "ReviewReport", LooseReport)
    patch.setattr(review_council, "PostVerifyResult", LooseJudgement)
    return strip


def nonce_fences_removed_anywhere(prompt: str) -> str:
    """As ours, but an end counts wherever it stands, as it does to a model."""
    nonce = re.escape(prompts.nonce_of(prompt))
    return re.sub(rf"<<<UNTRUSTED (\S+) {nonce}\n.*?[A-Z]+ {nonce} UNTRUSTED>>>", "", prompt, flags=re.DOTALL)


def _any_consult(record: ConsultRecord) -> ConsultNote:
    """A consult of any length."""
    consult = Consult.model_construct(**json.loads(record.question))
    return ConsultNote(consult, record.status, Guidance.model_construct(**json.loads(record.reply)))
