"""What a brief may say, and how a hostile one is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review_advisor.tasks.brief import LONGEST_BRIEF, BriefError, read_actions, read_brief

WHOLE: dict[str, Any] = {
    "subject": "Deploy 2.0?",
    "actions": ["deploy", "delay", "rollback"],
    "context": "Unit tests pass.",
    "mode": "report-only",
    "brief_version": 1,
}


def test_json_and_yaml_say_the_same() -> None:
    yaml = (
        "subject: Deploy 2.0?\nactions: [deploy, delay, rollback]\ncontext: |\n  Unit tests pass.\n"
        "mode: report-only\nbrief_version: 1\n"
    )
    brief = read_brief(json.dumps(WHOLE))
    assert brief == read_brief(yaml)
    assert (brief.actions, brief.blind_spots, brief.warnings) == (("deploy", "delay", "rollback"), (), ())


@pytest.mark.parametrize("key", ["subject", "actions"])
def test_subject_and_actions_are_required(key: str) -> None:
    with pytest.raises(BriefError, match=f"'{key}': is missing"):
        read_brief(json.dumps({name: said for name, said in WHOLE.items() if name != key}))


@pytest.mark.parametrize("subject", ["", " \n\t"])
def test_an_empty_subject_is_refused(subject: str) -> None:
    with pytest.raises(BriefError, match="say what the council votes on"):
        read_brief(json.dumps({**WHOLE, "subject": subject}))


@pytest.mark.parametrize(
    "actions", [["deploy"], ["deploy", "Deploy"], ["deploy", "_tool"], ["deploy", "a b"], "deploy"]
)
def test_there_are_two_or_more_actions_each_a_word_of_its_own(actions: object) -> None:
    with pytest.raises(BriefError, match="'actions"):
        read_brief(json.dumps({**WHOLE, "actions": actions}))


def test_actions_stand_in_one_text_with_commas_between_them() -> None:
    assert read_actions(" deploy, delay,rollback") == ("deploy", "delay", "rollback")
    for text in ("", "deploy", "deploy,", "deploy,Deploy", "deploy,_tool", "deploy;delay"):
        with pytest.raises(BriefError, match="The actions cannot be used"):
            read_actions(text)
    with pytest.raises(BriefError, match=r"used: name 2 to 10 actions\.$"):
        read_actions("deploy")
    with pytest.raises(BriefError, match="number 2: an action has letters, digits, - and _, a letter first"):
        read_actions("deploy,_tool")


@pytest.mark.parametrize(
    "wrong",
    [
        {"subject": 7},
        {"subject": None},
        {"subject": "x" * 1_001},
        {"actions": "deploy"},
        {"actions": ["deploy"]},
        {"actions": ["a", 7]},
        {"actions": ["a", "b c"]},
        {"actions": [f"a{number}" for number in range(11)]},
        {"context": []},
        {"mode": {}},
        {"brief_version": []},
    ],
)
def test_a_mistake_is_told_in_words_of_a_brief_and_not_of_its_reader(wrong: dict[str, Any]) -> None:
    with pytest.raises(BriefError) as told:
        read_brief(json.dumps({**WHOLE, **wrong}))
    assert not any(word in str(told.value) for word in ("Input", "Tuple", "String", "pattern", "validation"))


@pytest.mark.parametrize("mode", [None, "interactive"])
def test_another_mode_is_a_blind_spot_and_another_version_a_warning(mode: str | None) -> None:
    said = {name: value for name, value in WHOLE.items() if name not in ("mode", "brief_version")}
    brief = read_brief(json.dumps(said if mode is None else {**said, "mode": mode}))
    assert [each for each in brief.blind_spots if "report-only" in each] == list(brief.blind_spots) != []
    assert len(brief.warnings) == 1


HOSTILE = {
    "a long text": json.dumps({**WHOLE, "context": "x" * LONGEST_BRIEF}),
    "deep JSON": '{"context": ' * 9 + "1" + "}" * 9,
    "very deep JSON": '{"context": ' + "[" * 90_000,
    "deep YAML": "subject: " + "[" * 90_000,
    "many values": "actions: [" + "a, " * 5_000 + "]",
    "an alias": "subject: &a x\ncontext: *a\n",
    "a tag": "subject: !!python/object:os.system x\n",
    "a control character in YAML": "subject: a\x1bb\nactions: [a, b]\n",
    "a control character in JSON": json.dumps({**WHOLE, "subject": "a\x00b"}),
    "half of a character": json.dumps({**WHOLE, "context": "\ud800"}),
    "a key twice": '{"subject": "a", "subject": "b"}',
    "an unknown key": json.dumps({**WHOLE, "contexts": "x"}),
    "a list": "[]",
    "a huge number": '{"subject": ' + "9" * 10_000 + "}",
    "nothing": "",
    "two documents": "subject: a\n---\nsubject: b\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_brief_gets_one_clear_sentence(text: str) -> None:
    with pytest.raises(BriefError, match=r"^The brief cannot be (read|used): ") as refused:
        read_brief(text)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 400
