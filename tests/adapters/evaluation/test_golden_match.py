"""``review-advisor golden match``: findings of any reviewer, also with a judge that answers through ``claude -p``."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import CREDENTIAL, Done, Terminal, executable

OWN = Path(__file__).parents[3] / "golden"
CASE = "go/rows-not-closed"
LEAK = {"case": CASE, "file": "ledger/accounts.go", "first_line": 17, "text": "rows stay open after an error of Scan"}
OTHER = {**LEAK, "text": "The name of the function is misleading"}
NOISE = {"case": "rust/clean-iterator", "file": "src/mean.rs", "first_line": 4, "text": "An empty slice panics"}
NOTHING = {"case": "go/clean-wrap"}
JUDGE = """#!{python} -IS
import json, re, sys

if "--version" in sys.argv:
    print("2.1.329 (Claude Code)")
    sys.exit()
said = sys.stdin.read()
content = json.loads(said.splitlines()[0])["message"]["content"]
text = content if isinstance(content, str) else "".join(block["text"] for block in content)
pair = json.loads(re.search(r"UNTRUSTED REMARKS \\w+\\n(.*?)\\nREMARKS", text, re.DOTALL)[1])
with open("{heard}", "a") as heard:
    heard.write(json.dumps([pair, sys.argv]) + "\\n")
leak = lambda words: "rows" in words.lower() and "name" not in words
answer = {answer}
say = lambda kind, **event: print(json.dumps({{"type": kind, **event}}), flush=True)
say("system", subtype="init", session_id="s", model="stub", tools=["StructuredOutput"])
say("result", subtype="success", is_error=False, structured_output=answer, total_cost_usd=0.01)
"""
RIGHTLY = '{"why": "w", "same": leak(pair["first"]) and leak(pair["second"])}'

Match = Callable[..., Done]


def lines(path: Path, *findings: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(each) + "\n" for each in findings), encoding="utf-8")
    return str(path)


@pytest.fixture
def judged(terminal: Terminal, tmp_path: Path) -> Match:
    """Matches findings with a judge that answers so."""

    def match(answer: str, *findings: dict[str, Any], more: tuple[str, ...] = ()) -> Done:
        text = JUDGE.format(python=sys.executable, heard=tmp_path / "heard", answer=answer)
        claude = executable(tmp_path / "judge" / "claude", text)
        words = ("golden", "match", str(OWN), lines(tmp_path / "found.jsonl", *findings))
        return terminal.run(*words, "--judge", "haiku", "--claude-bin", str(claude), *more, env=CREDENTIAL)

    return match


def heard(tmp_path: Path) -> list[tuple[dict[str, str], list[str]]]:
    return [tuple(json.loads(line)) for line in (tmp_path / "heard").read_text().splitlines()]


def test_findings_are_held_against_the_labels_of_the_cases_they_name(terminal: Terminal, tmp_path: Path) -> None:
    done = terminal.run("golden", "match", str(OWN), lines(tmp_path / "f", LEAK, OTHER, NOISE, NOTHING))
    assert (done.code, done.err) == (0, "")
    table = [line.split() for line in done.out.splitlines()[:4]]
    assert table == [
        ["case", "right", "missed", "wrong", "unknown"],
        ["go/clean-wrap", "0", "0", "0", "0"],
        [CASE, "1", "1", "0", "1"],
        ["rust/clean-iterator", "0", "0", "1", "0"],
    ]
    assert done.out.splitlines()[4].startswith("3 of 60 cases reviewed, digest ")
    assert done.out.splitlines()[5:] == [
        "1 of 2 labels found, 0 of them by words alone",
        "1 finding wrong, 1 unknown, in cases of which not every fault is known",
    ]


def test_the_same_stands_in_json_with_each_finding(terminal: Terminal, tmp_path: Path) -> None:
    told = json.loads(terminal.run("golden", "match", str(OWN), lines(tmp_path / "f", LEAK, NOISE), "--json").out)
    assert [(each["by"], each["finding"]) for each in told["cases"][CASE]["right"]] == [("lines", LEAK["text"])]
    assert told["cases"]["rust/clean-iterator"]["wrong"] == [
        {"text": NOISE["text"], "file": "src/mean.rs", "first_line": 4}
    ]


def test_a_judge_parts_what_a_place_joins_and_is_asked_once_a_pair(judged: Match, tmp_path: Path) -> None:
    done = judged(RIGHTLY, OTHER, OTHER)
    assert done.code == 0, done.err
    assert done.err.splitlines()[-1] == "The judge had 1 pair to compare; 0.0400 USD."
    assert [line.split() for line in done.out.splitlines()[1:2]] == [[CASE, "0", "2", "0", "2"]]
    asked = heard(tmp_path)
    assert len(asked) == 4
    for _, argv in asked:
        assert argv[argv.index("--model") + 1] == "haiku"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "answer, said",
    [
        ('{"why": "w", "same": True}', "It called them the same"),
        ('{"why": "w", "same": False}', "It called them two"),
        ('{"why": "w", "same": None}', "It gave no usable answer"),
        ("{}", "It gave no usable answer"),
    ],
)
def test_a_judge_that_fails_its_smoke_test_counts_nothing(
    judged: Match, tmp_path: Path, answer: str, said: str
) -> None:
    done = judged(answer, LEAK)
    assert (done.code, done.out) == (12, "")
    assert "The judge failed its smoke test, so nothing was counted. " + said in done.err
    assert len(heard(tmp_path)) == 3


@pytest.mark.every_case
def test_a_pair_for_which_no_money_is_left_is_decided_by_its_place(judged: Match) -> None:
    done = judged(RIGHTLY, *({**OTHER, "text": f"name {number}"} for number in range(40)), more=("--max-usd", "0.2"))
    assert done.code == 0
    told = re.fullmatch(
        r"The judge had 40 pairs to compare, (\d+) not asked for lack of money; (.*) USD.", done.err.strip()
    )
    assert told is not None, done.err
    assert 20 < int(told[1]) < 40
    assert float(told[2]) <= 0.2
    assert done.out.splitlines()[1].split() == [CASE, "1", "1", "0", "39"]


def test_money_that_is_too_little_for_the_smoke_test_asks_nothing_further(judged: Match) -> None:
    done = judged(RIGHTLY, OTHER, more=("--max-usd", "0.03"))
    assert (done.code, done.out, done.err) == (12, "", "Error: 0.03 USD are too little to test the judge.\n")


def test_what_cannot_be_read_ends_before_anybody_is_asked(judged: Match, tmp_path: Path) -> None:
    done = judged(RIGHTLY, {"case": "go/rows"})
    assert (done.code, done.out) == (2, "")
    assert "the set has no case 'go/rows'" in done.err
    assert not (tmp_path / "heard").exists()


def test_findings_may_come_through_a_pipe(terminal: Terminal) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write(json.dumps(LEAK) + "\n")
    with os.fdopen(reading) as pipe:
        done = terminal.run("golden", "match", str(OWN), f"/dev/fd/{pipe.fileno()}")
    assert (done.code, done.out.splitlines()[1].split()) == (0, [CASE, "1", "1", "0", "0"]), done.err
