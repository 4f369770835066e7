"""A story read from YAML, and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from review_advisor.mockworld.story import Story
from review_advisor.safety.stated_values import nearest_of, value_mistake

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_WORD = re.compile(r"'([^']*)'")
"""A word that would do, as pydantic names it."""


class StoryError(ValueError):
    """A story that cannot be read. One sentence: file, line, what is wrong, and the nearest right thing."""


def read_story(text: str, origin: str) -> Story:
    """The story in ``text``. Raises ``StoryError``; ``origin`` names the file in it."""
    try:
        node = yaml.compose(text, Loader=Loader)
        if node is None:
            raise StoryError(f"{origin} is empty.")
        _refuse_twins(node, origin)
        content = yaml.load(text, Loader=Loader)  # noqa: S506 (the safe loader, in C where there is one)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{origin}, line {mark.line + 1}" if mark else origin
        raise StoryError(f"{where}: not valid YAML: {getattr(error, 'problem', None) or error}.") from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, StoryError):
            raise
        raise StoryError(f"{origin}: not valid YAML.") from None
    try:
        return Story.model_validate(content)
    except ValidationError as error:
        raise StoryError(_complaint(error, node, origin)) from None


def story_text(story: Story) -> str:
    """The story as YAML that ``read_story`` reads back to an equal one."""
    content = story.model_dump(mode="json", exclude_defaults=True)
    for step, block in zip(story.steps, content["steps"], strict=True):
        if step.review is not None:
            for role in ("pre_flight", "executor", "mid_flight", "post_verify"):
                spoken = getattr(step.review, role)
                for line, line_block in zip(spoken, block["review"].get(role, ()), strict=True):
                    line_block.update({"says": line.says} if line.fault is None else {})
    dumped: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
    return dumped


def _refuse_twins(node: Any, origin: str) -> None:
    """YAML takes the last of two equal keys; a story with two says something else than its author thinks."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise StoryError(f"{origin}, line {key.start_mark.line + 1}: a key must be a word.")
            if key.value in seen:
                raise StoryError(f"{origin}, line {key.start_mark.line + 1}: the key {key.value!r} stands there twice.")
            seen.add(key.value)
            _refuse_twins(value, origin)
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            _refuse_twins(each, origin)


def _complaint(error: ValidationError, node: Any, origin: str) -> str:
    every = error.errors(include_url=False)
    first = next((each for each in every if each["type"] == "extra_forbidden"), every[0])
    place = [step for step in first["loc"] if step != "[key]"]
    where = f"{origin}, line {_line(node, place)}"
    at = ".".join(str(step + 1) if isinstance(step, int) else step for step in place)
    if first["type"] == "extra_forbidden":
        return f"{where}: unknown key {at!r}; {nearest_of(str(place[-1]), _known(Story, place[:-1]))}"
    mistake = value_mistake(first, block="a block of keys")
    if first["type"] in ("literal_error", "enum") and isinstance(first["input"], str):
        mistake = (
            f"unknown word {first['input']!r}; {nearest_of(first['input'], _WORD.findall(first['ctx']['expected']))}"
        )
    end = "" if mistake.endswith("?") else "."
    return f"{where}: {at}: {mistake}{end}" if at else f"{where}: {mistake}{end}"


def _line(node: Any, place: Sequence[int | str]) -> int:
    """The line of the innermost part of the document that ``place`` leads to."""
    here = node
    for step in place:
        found = None
        if isinstance(here, yaml.MappingNode):
            keys = {key.value: (key, value) for key, value in here.value}
            key, found = keys.get(str(step), (None, None))
            if found is not None and isinstance(found, yaml.ScalarNode):
                return int(key.start_mark.line) + 1
        elif isinstance(here, yaml.SequenceNode) and isinstance(step, int) and step < len(here.value):
            found = here.value[step]
        if found is None:
            break
        here = found
    return int(here.start_mark.line) + 1


def _known(model: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """The keys that the block at ``place`` knows."""
    for step in place:
        if isinstance(step, str) and step in model.model_fields:
            inner = _blocks(model.model_fields[step].annotation)
            if inner:
                model = inner[0]
    return list(model.model_fields)


def _blocks(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [block for inner in getattr(annotation, "__args__", ()) for block in _blocks(inner)]
