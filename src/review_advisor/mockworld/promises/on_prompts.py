"""The promises about prompts: what a role is owed, what must stay inside a fence, what must not be seen."""

from __future__ import annotations

import json
from collections.abc import Iterator

from review_advisor.agents.calls import Answered
from review_advisor.mockworld.agents import PlayedCall
from review_advisor.mockworld.promises.played_review import PartKey, Reading, answer_of, is_plain
from review_advisor.policy.surfaces import Role, Surface

CANARY = "zqx"
"""Stands in every text of a seeded world that comes from outside: title, body, paths, lines, spec, replies."""
REPLY_CANARY = CANARY + "r{review}x"
"""Stands in every reply of that review."""
OWED = {
    Role.PRE_FLIGHT: ("DESCRIPTION", "FILES"),
    Role.EXECUTOR: ("DESCRIPTION", "FILES"),
    Role.POST_VERIFY: ("DESCRIPTION", "FILES", "REPORT"),
}
ALONE = {"FILES", "DIFF", "NOT_SHOWN", "RULES"}
"""All that the metadata-blind executor is shown."""
MATTER = {Surface.VISUAL_GATE: "PICTURES", Surface.WIKI_INGEST: "KNOWLEDGE"}
"""What a surface shows instead of the diff."""


def every_prompt_has_what_its_role_is_owed(reading: Reading) -> Iterator[str]:
    """Description, files and diff, the report for the judge, the spec where one is linked, the nonce on top."""
    change = reading.review.change
    for asked, (own, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        who = f"{asked.call.role} on {asked.call.surface}, attempt {asked.call.attempt}"
        if not own.startswith(f"This is review {reading.review.run_id}. Its nonce is {reading.review.nonce}.\n"):
            yield f"{who} was not told the nonce first"
        if asked.call.blind or asked.call.role is Role.MID_FLIGHT:  # it is shown a packet, not the change
            continue
        matter = () if asked.call.role is Role.PRE_FLIGHT else (MATTER.get(asked.call.surface, "DIFF"),)
        for label in (*OWED[asked.call.role], *matter):
            if label not in inside:
                yield f"{who} was shown no {label}"
        told = () if change.spec is None else filter(is_plain, change.spec.text.splitlines()[:20])
        if not all(line in inside.get("SPEC", "") for line in told):
            yield f"{who} was not shown the spec"
        if is_plain(change.title) and change.title not in inside.get("DESCRIPTION", ""):
            yield f"{who} was not told the title"


def a_diff_judged_alone_comes_with_nothing_that_is_said(reading: Reading) -> Iterator[str]:
    """The metadata-blind executor is shown the diff and the files, and no word that anybody said about the change."""
    change = reading.review.change
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        if not asked.call.blind:
            continue
        if "DIFF" not in inside or not set(inside) <= ALONE:
            yield f"the blind executor of {asked.call.surface} was shown {', '.join(inside)}"
        told = (change.title, *change.body.splitlines()[:1])
        shown = [words for words in told if words.strip() and words in asked.call.prompt]
        if shown:
            yield f"the blind executor of {asked.call.surface} was shown {shown[0]!r}"
        if asked.call.consults is not None or asked.call.edits is not None:
            yield f"the blind executor of {asked.call.surface} may consult or edit"


def the_plan_reaches_executor_and_judge(reading: Reading) -> Iterator[str]:
    """Once pre-flight has planned a surface, its executor and post-verify are shown the plan; else they see none."""
    plans: dict[Surface, str] = {}
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        surface = asked.call.surface
        if asked.call.role is Role.PRE_FLIGHT:
            answer = answer_of(asked)
            plans.update({surface: answer["risk_summary"]} if answer is not None else {})
        if asked.call.role is Role.PRE_FLIGHT or asked.call.blind:
            continue
        owed = plans.get(Surface.PR_REVIEW if surface is Surface.PRE_MERGE_SPEC_CHECK else surface)
        if (owed is None) != ("PLAN" not in inside) or (owed is not None and owed not in inside["PLAN"]):
            yield f"{asked.call.role} on {surface} was shown {inside.get('PLAN')!r}, planned was {owed!r}"


def a_retry_is_handed_the_whole_transcript(reading: Reading) -> Iterator[str]:
    """Executor and judge of attempt n see every earlier judgement of their part, whole, and no other."""
    judged: dict[PartKey, list[str]] = {}
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        if asked.call.role is Role.PRE_FLIGHT:
            continue
        key = (asked.call.surface, asked.call.shard)
        yield from _wrong_transcript(asked, inside, judged.setdefault(key, []))
        answer = answer_of(asked)
        if asked.call.role is Role.POST_VERIFY and answer is not None:
            judged[key].append(str(answer["reasoning"]))


def _wrong_transcript(asked: PlayedCall, inside: dict[str, str], judged: list[str]) -> Iterator[str]:
    who = f"{asked.call.role} on {asked.call.surface}, attempt {asked.call.attempt}"
    if not judged and "TRANSCRIPT" not in inside:
        return
    shown = json.loads(inside.get("TRANSCRIPT", '{"attempts": []}'))["attempts"]
    if len(shown) != len(judged):
        yield f"{who} was shown {len(shown)} of {len(judged)} judgements"
    for each, reasoning in zip(shown, judged, strict=False):
        raw = each.get("raw")
        whole = raw is None or json.dumps(reasoning)[1:-1] in raw
        if is_plain(reasoning) and (each["reasoning"] != reasoning or not whole):
            yield f"{who} was not shown the judgement {reasoning!r} whole"
    if asked.call.role is Role.EXECUTOR and "REPORT" not in inside:
        yield f"{who} was not shown its earlier report"


def the_judge_sees_the_report_it_judges(reading: Reading) -> Iterator[str]:
    """Post-verify is shown the summary of the executor's latest report, and no older one."""
    latest: dict[PartKey, str] = {}
    for asked, report in zip(reading.review.asked, reading.reports, strict=True):
        answer = answer_of(asked)
        key = (asked.call.surface, asked.call.shard)
        if asked.call.role is Role.EXECUTOR and answer is not None and not asked.call.blind:
            latest[key] = str(answer["summary"])
        elif asked.call.role is Role.POST_VERIFY:
            summary = latest.get(key)
            shown = (report or {}).get("summary")
            if summary is None and key[0] is Surface.WIKI_INGEST:
                continue  # our own check stands in for the executor
            if summary is None or (is_plain(summary) and shown != summary):
                yield f"post-verify on {key[0]} was shown the report {shown!r}, the latest is {summary!r}"


def no_untrusted_text_stands_outside_a_fence(reading: Reading) -> Iterator[str]:
    """What comes from the change, its author or a model never stands among our own words."""
    for asked, (own, _) in zip(reading.review.asked, reading.prompts, strict=True):
        words = [own, asked.call.system_prompt]
        if asked.call.consults is not None:
            words += [asked.call.consults.sentinel, asked.call.consults.advisor_prompt]
        for text in words:
            at = text.find(CANARY)
            if at >= 0:
                yield f"{asked.call.role} read {text[max(0, at - 40) : at + 40]!r} as our own words"


def no_fence_holds_the_nonce(reading: Reading) -> Iterator[str]:
    """Text inside a fence never carries the run's nonce, so that nothing in it can end the fence."""
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        for label, text in inside.items():
            if reading.review.nonce in text:
                yield f"{asked.call.role} was shown the nonce inside {label}"


def nothing_of_an_earlier_review_is_seen(reading: Reading) -> Iterator[str]:
    """No prompt holds an earlier review's nonce, run id or replies, but for the findings that the bot remembers."""
    for earlier in reading.earlier:
        reply = REPLY_CANARY.format(review=earlier.number)
        for asked, (own, inside) in zip(reading.review.asked, reading.prompts, strict=True):
            new = (own, *(text for label, text in inside.items() if label != "EARLIER"))
            found = [mark for mark in (earlier.nonce, earlier.run_id) if mark in asked.call.prompt]
            found += [reply] if any(reply in text for text in new) else []
            yield from (f"{asked.call.role} was shown {mark!r} of an earlier review" for mark in found)


def a_planner_has_no_tools_and_only_executors_consult(reading: Reading) -> Iterator[str]:
    """Pre-flight gets no tree, and nobody but the executor gets the Agent tool."""
    for asked in reading.review.asked:
        if asked.call.role is Role.PRE_FLIGHT and asked.call.tree is not None:
            yield "pre-flight was given tools"
        if asked.call.role is not Role.EXECUTOR and asked.call.consults is not None:
            yield f"{asked.call.role} was given the Agent tool"


def the_calls_of_a_role_begin_alike(reading: Reading) -> Iterator[str]:
    """All calls of a role about one version of a part list the same tools and begin with the same blocks."""
    begun: dict[tuple[object, ...], tuple[object, ...]] = {}
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        call = asked.call
        tools = (
            call.tree is not None,
            call.edits is not None or call.withheld.edits,
            call.consults is not None or call.withheld.consults is not None,
        )
        version = (call.role, call.surface, call.shard, inside.get("DIFF"))
        for alike, facts in (("tools", tools), ("first block", call.blocks[:1]), ("blocks", call.blocks[:-1])):
            if alike == "first block" and len(call.blocks) == 1:  # a question that is asked again ends with why
                continue
            about = (*version, alike, call.blind and alike == "blocks")
            if begun.setdefault(about, facts) != facts:
                yield f"{call.role} on {call.surface}, attempt {call.attempt}, begins with other {alike}"


def guidance_is_carried_into_a_retry(reading: Reading) -> Iterator[str]:
    """What an executor asked in earlier attempts is told to it again on its retry."""
    told: dict[PartKey, list[tuple[int, str]]] = {}
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        if asked.call.role is not Role.EXECUTOR:
            continue
        before = told.setdefault((asked.call.surface, asked.call.shard), [])
        for attempt, question in before:
            if attempt < asked.call.attempt and question not in inside.get("GUIDANCE", ""):
                yield f"the retry on {asked.call.surface} does not know of its question {question!r}"
        if isinstance(asked.result, Answered):
            before += [(asked.call.attempt, each.question) for each in asked.advice]
