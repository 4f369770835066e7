"""A review with the real CLI, recorded whole: what stands in the recording, and what must not."""

from __future__ import annotations

import json
import stat

from tests.e2e.review_answers import confirm, guidance, plan, report
from tests.e2e.review_world import EXECUTOR, KEY, MID_FLIGHT, POST_VERIFY, PRE_FLIGHT, ReviewWorld, nonce_of
from tests.e2e.stub_api import consult, read

from review_advisor.agents.calls import Answered
from review_advisor.agents.recordings import Recording, read_recording

TOKEN = "ghp_" + "A1b2C3d4" * 5


def recorded(world: ReviewWorld, mode: str) -> tuple[Recording, str]:
    """A review with a plan, a file that is read, a consult and a judgement; its recording, also as text."""
    world.change({"deploy.py": f'TOKEN = "{TOKEN}"\n' + "".join(f"value_{n} = {n}\n" for n in range(30))})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, read("deploy.py"), consult("A or B?"), report())
    world.says(MID_FLIGHT, guidance("Choose B."))
    world.says(POST_VERIFY, confirm())
    done = world.review(config=f'recording = "{mode}"\n')
    (path,) = (done.folder.parent / ".recordings").glob("*.jsonl")
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    text = path.read_text(encoding="utf-8")
    recording = read_recording(path.read_bytes())
    assert recording.problems == ()
    for secret in (TOKEN, TOKEN[:20], KEY, nonce_of(world.of(EXECUTOR)[0])):
        assert secret not in text
    return recording, text


def test_a_full_recording_of_a_review_holds_prompts_output_and_consults_without_secrets(world: ReviewWorld) -> None:
    recording, text = recorded(world, "full")
    planned, executed, judged = recording.calls
    assert [call.identity.role for call in recording.calls] == [PRE_FLIGHT, EXECUTOR, POST_VERIFY]
    assert [call.identity.sequence for call in recording.calls] == [1, 2, 3]
    assert "[secret: GitHub token]" in text
    assert isinstance(executed.reply, Answered)
    (asked,) = executed.reply.receipt.consults
    assert (asked.question.endswith("A or B?"), "Choose B." in asked.reply) == (True, True)
    for call in (planned, executed, judged):
        assert call.prompt
        assert call.stream
        kinds = [json.loads(line)["type"] for line in call.stream]
        assert (kinds[0], kinds[-1]) == ("system", "result")
        assert "stream_event" not in kinds
    assert any("value_29" in (call.prompt or "") for call in recording.calls)
    assert any("[secret: GitHub token]" in line and '"tool_result"' in line for line in executed.stream or ())


def test_a_recording_of_answers_holds_no_prompt(world: ReviewWorld) -> None:
    recording, text = recorded(world, "answers")
    assert [(call.prompt, call.stream) for call in recording.calls] == [(None, None)] * 3
    assert "value_29" not in text
