"""``review-advisor golden list`` and ``check`` as their users meet them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal

OWN = Path(__file__).parents[3] / "golden"


def test_a_set_is_listed_with_what_it_holds(terminal: Terminal) -> None:
    done = terminal.run("golden", "list", str(OWN))
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split() == ["case", "kind", "language", "labels", "title"]
    assert any(
        line.startswith("python/search-orders") and line.endswith("Search orders by customer name") for line in lines
    )
    assert lines[-3].startswith("own, version 1: 60 cases (40 faulty, 12 clean, 8 hostile), digest ")
    assert lines[-1].endswith("only there an unmatched finding is wrong.")


def test_a_set_is_listed_for_machines(terminal: Terminal) -> None:
    told = json.loads(terminal.run("golden", "list", str(OWN), "--json").out)
    assert (told["name"], told["version"], len(told["digest"])) == ("own", "1", 64)
    case = next(each for each in told["cases"] if each["id"] == "go/rows-not-closed")
    assert case | {"title": ""} == {
        "id": "go/rows-not-closed",
        "group": "go/ledger",
        "kind": "faulty",
        "language": "Go",
        "exhaustive": False,
        "change": "files",
        "title": "",
        "labels": 2,
        "refuted": 0,
    }


def test_what_a_set_does_not_say_is_said(terminal: Terminal, tmp_path: Path) -> None:
    url = "https://github.com/o/r/pull/1"
    pull = {"url": url, "comments": [{"comment": "It\u202e leaks", "severity": "Low"}]}
    (tmp_path / "golden_comments").mkdir()
    (tmp_path / "golden_comments/r.json").write_text(json.dumps([pull, pull | {"url": f"{url}2", "comments": []}]))
    done = terminal.run("golden", "check", str(tmp_path))
    assert done.out.splitlines()[1:] == [
        "1 group, 1 label",
        "In 0 of 1 every fault is known: only there an unmatched finding is wrong.",
        "languages: unknown 1",
        "severities: low 1",
        "no lines, so that words alone decide what is found: 1 of 1 label",
        "only a name, so that nobody can review it here: 1 case",
        "left out: https://github.com/o/r/pull/12 has no golden comment.",
    ]


def test_a_patch_has_to_apply_to_the_files_of_its_case(terminal: Terminal, tmp_path: Path) -> None:
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
    case = 'kind = "clean"\npatch = """\n' + patch + '"""\n[[files]]\npath = "a.txt"\nbefore = "{}\\n"\n'
    (tmp_path / "a.toml").write_text(case.format("one"))
    assert terminal.run("golden", "check", str(tmp_path)).code == 0
    (tmp_path / "a.toml").write_text(case.format("three"))
    done = terminal.run("golden", "check", str(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert done.sentence.startswith("The case a cannot be made. The patch of the case a does not apply: ")


def test_a_case_that_cannot_be_used_is_named_and_ends_the_command(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('kind = "clear"\n')
    done = terminal.run("golden", "check", str(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"Error: {tmp_path / 'a.toml'}: kind: unknown word 'clear'; did you mean 'clean'?\n"


PATCH = """kind = "faulty"
patch = '''
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 zero
-one
+two
'''
[[files]]
path = "a.txt"
before = "zero\\none\\n"
[[labels]]
file = "a.txt"
first_line = 2
text = "It is two."
"""


@pytest.mark.parametrize(
    "old, new, says",
    [
        (
            '"a.txt"\nfirst',
            '"nowhere.txt"\nfirst',
            "label 1 is about nowhere.txt, which is not there after the change.",
        ),
        ("first_line = 2", "first_line = 999999", "label 1 is about line 999999 of a.txt, which has fewer lines."),
        ("first_line = 2", "first_line = 1", "label 1 is about lines of a.txt that do not change: correct them, or"),
        ("first_line = 2", "first_line = 2\nunchanged = true", "of a.txt that change, and says unchanged."),
    ],
)
def test_labels_of_a_patch_stand_on_lines_of_the_files_that_it_makes(
    terminal: Terminal, tmp_path: Path, old: str, new: str, says: str
) -> None:
    (tmp_path / "a.toml").write_text(PATCH.replace(old, new))
    done = terminal.run("golden", "check", str(tmp_path))
    assert done.code == 2
    assert done.sentence.startswith("The case a cannot be used: ")
    assert says in done.sentence


def test_a_file_that_no_disk_takes_is_no_case(terminal: Terminal, tmp_path: Path) -> None:
    path = "a" * 300
    (tmp_path / "a.toml").write_text(f'kind = "clean"\n[[files]]\npath = "{path}"\nafter = "x"\n')
    done = terminal.run("golden", "check", str(tmp_path))
    assert done.code == 2
    assert done.sentence == "The case a cannot be made. A file of the case cannot be written: File name too long."


def test_a_checked_set_is_told_to_machines(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(PATCH)
    told = json.loads(terminal.run("golden", "check", str(tmp_path), "--json").out)
    assert [(case["id"], case["change"], case["labels"]) for case in told["cases"]] == [("a", "patch", 1)]
