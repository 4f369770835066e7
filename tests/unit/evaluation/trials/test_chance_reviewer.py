"""What chance gets on a golden set."""

from dataclasses import replace

import pytest

from review_advisor.lab.golden_cases import FilesChange, GoldenCase, GoldenFile, GoldenLabel, NamedChange, golden_set
from review_advisor.lab.trials import MEASURES, chance_sums

TEN = "".join(f"line {number}\n" for number in range(1, 11))
FAULTY = GoldenCase(
    id="a",
    group="g",
    kind="faulty",
    change=FilesChange((GoldenFile("a.py", None, TEN),)),
    exhaustive=True,
    labels=(GoldenLabel("The sum overflows", "a.py", 4, 6, "high"),),
)
CLEAN = replace(FAULTY, id="b", kind="clean", labels=())


def measured(*cases: GoldenCase) -> dict[str, float | None]:
    sums = chance_sums(golden_set("ours", "1", cases))
    assert sums is not None
    return {each.name: each.of(sums) for each in MEASURES}


def test_it_finds_a_label_as_often_as_its_lines_are_hit() -> None:
    told = measured(FAULTY, CLEAN)

    assert told["recall"] == pytest.approx(0.3)
    assert told["correct"] == pytest.approx(0.15), "it never approves, so no clean case is reviewed correctly"
    assert told["precision"] == pytest.approx(0.15)
    assert told["false_alarms"] == pytest.approx(1)


def test_of_a_long_change_lines_are_tried_evenly_and_of_one_without_lines_none() -> None:
    long = replace(FAULTY, change=FilesChange((GoldenFile("a.py", None, TEN * 100),)), labels=())
    far = replace(long, labels=(GoldenLabel("The sum overflows", "a.py", 501, 530, "high"),))
    gone = replace(FAULTY, id="c", change=FilesChange((GoldenFile("a.py", TEN, None),)))

    assert measured(far)["recall"] == pytest.approx(0.03)
    assert measured(gone)["recall"] == 0


def test_a_set_without_whole_files_tells_nothing() -> None:
    named = replace(FAULTY, change=NamedChange("https://example.org/1"))

    assert chance_sums(golden_set("ours", "1", [named])) is None
    assert measured(FAULTY, replace(named, id="b"))["recall"] == pytest.approx(0.3)
