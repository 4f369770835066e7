"""Golden sets by their path: the own form, JSON lines, and two public benchmarks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from review_advisor.app.golden import read_golden_set
from review_advisor.lab.golden_cases import CommitsChange, GoldenSetError, NamedChange, read_case
from review_advisor.lab.matching import RaisedFinding, matched

PULL = "https://github.com/octo/hello/pull/7"
ONE, TWO = "1" * 40, "2" * 40
CASE = 'kind = "clean"\n[[files]]\npath = "a"\nafter = "x"\n'


def written(path: Path, told: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told if isinstance(told, str) else json.dumps(told), encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(GoldenSetError) as refused:
        read_golden_set(path)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def aacr(**changed: Any) -> list[dict[str, Any]]:
    comment = {
        "note": "The index is off",
        "path": "a.c",
        "side": "right",
        "from_line": 9,
        "to_line": 4,
        "category": "Code Defect",
    }
    pull = {
        "githubPrUrl": PULL,
        "source_commit": TWO,
        "target_commit": ONE,
        "project_main_language": "C",
        "comments": [comment],
    }
    return [pull | changed]


class TestAFolderOfCases:
    def test_each_file_is_a_case_named_by_its_path(self, tmp_path: Path) -> None:
        written(tmp_path / "set.toml", 'name = "ours"\nversion = "3"\n')
        written(tmp_path / "go/two.toml", CASE)
        written(tmp_path / "one.toml", CASE)
        written(tmp_path / ".hidden/three.toml", "no case")
        known = read_golden_set(tmp_path)
        assert (known.name, known.version, [case.id for case in known.cases]) == ("ours", "3", ["go/two", "one"])

    def test_without_a_set_file_the_folder_gives_the_name(self, tmp_path: Path) -> None:
        written(tmp_path / "mine/one.toml", CASE)
        assert (read_golden_set(tmp_path / "mine").name, read_golden_set(tmp_path / "mine").version) == ("mine", "")

    def test_what_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        assert refusal(tmp_path / "none") == f"{tmp_path / 'none'} cannot be read: No such file or directory."
        assert "no TOML file lies below it" in refusal(tmp_path)
        written(tmp_path / "x/set.toml", "name = 1")
        assert "the name and the version of the set" in refusal(tmp_path / "x")
        written(tmp_path / "y/a.toml", 'kind = "clean"\nbody = """' + "x" * 2_000_001 + '"""')
        assert "a.toml cannot be read: it is larger than 2,000,000 bytes" in refusal(tmp_path / "y")
        (tmp_path / "z").mkdir()
        (tmp_path / "z/a.toml").write_bytes(b"\xff")
        assert "is not text in UTF-8" in refusal(tmp_path / "z")

    def test_a_link_is_not_followed(self, tmp_path: Path) -> None:
        outside = written(tmp_path / "outside.toml", CASE)
        (tmp_path / "set").mkdir()
        (tmp_path / "set/a.toml").symlink_to(outside)
        assert "is a link" in refusal(tmp_path / "set")


def test_the_example_of_the_page_is_a_case() -> None:
    page = (Path(__file__).parents[3] / "docs/evaluation.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert read_case("a", example, "the page").knows_every_fault


class TestJsonLines:
    def test_a_line_is_a_case_with_its_id(self, tmp_path: Path) -> None:
        case = {"id": "a/1", "group": "g", "kind": "clean", "files": [{"path": "a", "after": "x"}]}
        known = read_golden_set(
            written(tmp_path / "cases.jsonl", json.dumps(case) + "\n\n" + json.dumps(case | {"id": "a/2"}))
        )
        assert (known.name, [case.id for case in known.cases]) == ("cases", ["a/1", "a/2"])

    @pytest.mark.parametrize(
        "line, said",
        [
            ("{", "line 1 is not valid JSON."),
            ("[" * 100_000, "line 1 is not valid JSON."),
            ("[]", "line 1 is no JSON object."),
            ('{"kind": "clean", "files": [{"path": "a", "after": "x"}]}', "line 1: id: is missing."),
            (
                '{"id": "../a", "kind": "clean"}',
                "line 1: id: should have letters, digits, dots, hyphens",
            ),
            ("\n", "holds no golden case."),
        ],
    )
    def test_what_cannot_be_read_is_named(self, tmp_path: Path, line: str, said: str) -> None:
        assert said in refusal(written(tmp_path / "cases.jsonl", line))


class TestMartian:
    def test_golden_comments_are_labels_without_a_place(self, tmp_path: Path) -> None:
        comment = {"comment": "The paginator cannot slice negatively", "severity": "High"}
        told = [{"url": PULL, "pr_title": "Pages", "comments": [comment, comment, {"comment": "x", "severity": "?"}]}]
        written(tmp_path / "offline/golden_comments/sentry.json", [*told, {"url": PULL[:-1] + "8", "comments": []}])
        known = read_golden_set(tmp_path)
        (case,) = known.cases
        assert (case.id, case.group, case.title) == ("martian/octo/hello/7", "martian/sentry", "Pages")
        assert case.change == NamedChange(PULL)
        assert [(each.severity, each.first_line) for each in case.labels] == [("high", 0), (None, 0)]
        assert known.left_out == (f"{PULL[:-1]}8 has no golden comment.",)
        found = matched(
            case, [RaisedFinding("The paginator fails to slice with a negative start", "api/pages.py", 12, 12)]
        )
        assert [each.by for each in found.right] == ["text"]

    def test_what_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        file = written(tmp_path / "golden_comments/sentry.json", [{"url": PULL}])
        assert refusal(tmp_path) == f"{file} does not have the form of this benchmark, at 0.comments: is missing."
        written(file, [{"url": "https://x/../../pull/1", "comments": []}])
        assert "no address of a pull request" in refusal(tmp_path)
        written(file, [])
        assert "holds no golden comment" in refusal(tmp_path)


class TestAacrBench:
    def test_confirmed_comments_are_labels_and_the_others_are_refuted(self, tmp_path: Path) -> None:
        written(tmp_path / "dataset/positive_samples.json", aacr())
        wrong = aacr(
            comments=[{"note": "The name is wrong", "path": "b.c", "side": "left", "from_line": 3, "to_line": 3}]
        )
        written(tmp_path / "dataset/negative_samples.json", wrong)
        (case,) = read_golden_set(tmp_path).cases
        assert (case.id, case.group, case.language) == ("aacr/octo/hello/7", "aacr/octo/hello", "C")
        assert case.change == CommitsChange("octo/hello", base=ONE, head=TWO)
        assert [(each.first_line, each.last_line, each.category) for each in case.labels] == [(4, 9, "Code Defect")]
        assert [(each.file, each.first_line) for each in case.refuted] == [("b.c", 0)]
        assert not case.knows_every_fault

    def test_a_folder_with_the_samples_themselves_does(self, tmp_path: Path) -> None:
        written(tmp_path / "positive_samples.json", aacr())
        assert len(read_golden_set(tmp_path).cases) == 1

    @pytest.mark.parametrize(
        "changed, said",
        [
            ({"source_commit": "main"}, "at 0.source_commit"),
            ({"githubPrUrl": "file:///etc/passwd"}, "no address of a pull request"),
            ({"comments": []}, "holds no comment"),
        ],
    )
    def test_what_cannot_be_read_is_named(self, tmp_path: Path, changed: dict[str, Any], said: str) -> None:
        written(tmp_path / "positive_samples.json", aacr(**changed))
        assert said in refusal(tmp_path)
