"""The prompts of a shadow that tries other ones: texts of the base in the place of those that ship."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from review_advisor.core.facts.files.declared import DECLARED
from review_advisor.core.facts.guidelines import BaseText
from review_advisor.core.policy.surfaces import REVIEW_SURFACES, Role
from review_advisor.core.roles.instructions import ADVISOR, Instructions, without_frontmatter
from review_advisor.core.roster.nearest import nearest_of
from review_advisor.core.safety.fence import clean
from review_advisor.core.shadow.shadow_rule import SPEAKERS, ShadowPart, ShadowRule

INSTRUCTIONS = f"{DECLARED}/instructions"
LONGEST_INSTRUCTIONS = 10_000
"""Characters of one file. The system prompt is an argument of a process, and has three of them."""
_WHOSE: Mapping[ShadowPart, str] = {
    "judge": "a judge",
    "executor": "an executor",
    "consulted": "an advisor on consults",
    "surface": "a surface",
    "review": "a role",
}


def instruction_files(rule: ShadowRule) -> tuple[str, ...]:
    """The paths at which a version of the prompts of this shadow can stand; none where it has those that ship."""
    if not rule.instructions:
        return ()
    roles = SPEAKERS[rule.part]
    advisor = (ADVISOR,) if any(role is not Role.EXECUTOR for role in roles) else ()
    names = (*advisor, *(role.value for role in roles), *(surface.value for surface in REVIEW_SURFACES))
    return tuple(f"{_folder(rule)}{name}.md" for name in names)


def instructions_of(
    rule: ShadowRule, shipped: Instructions, texts: Mapping[str, BaseText]
) -> Instructions | tuple[str, ...]:
    """The instructions of a shadow, by the ``texts`` of its folder; or a sentence on each mistake in them.

    A file takes the place of the one that ships under its name. What of a text cannot be seen is spelled out. A shadow
    without a folder has the ``shipped`` ones.
    """
    if not rule.instructions:
        return shipped
    read = instruction_files(rule)
    problems: list[str] = []
    instead: dict[str, str] = {}
    for path, found in sorted(texts.items()):
        name = path.removeprefix(_folder(rule)).removesuffix(".md")
        if name not in shipped.texts:
            files = (f"{each}.md" for each in shipped.texts)
            problems.append(f"{path}: nobody reads it; {nearest_of(path.removeprefix(_folder(rule)), files)}")
        elif path in read:
            instead[name] = text = clean(found.text.removeprefix("\ufeff").replace("\r\n", "\n"))
            problem = found.problem or _problem(found.text, text)
            problems += [f"{path}: {problem}."] if problem else []
    if not instead:
        problems.append(f"put the words of {_WHOSE[rule.part]} into one of its files: {', '.join(read)}.")
    if problems:
        return tuple(f"shadow.{rule.id}: {each}" for each in problems)
    return replace(shipped, texts={**shipped.texts, **instead})


def _problem(raw: str, text: str) -> str:
    if not without_frontmatter(text):
        return "it is empty"
    too_long = max(len(raw), len(text)) > LONGEST_INSTRUCTIONS
    return f"it is longer than {LONGEST_INSTRUCTIONS:,} characters" if too_long else ""


def _folder(rule: ShadowRule) -> str:
    return f"{INSTRUCTIONS}/{rule.instructions}/"
