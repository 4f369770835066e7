"""``review-advisor eval``: simulated answers, kept, gone on with, cut into shards, joined, shown and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.adapters.command_line import Done, Terminal

pytestmark = pytest.mark.every_case

SIMULATED = "Answers: simulated, known truth. No model answered: this is a test of the scoring."


def evaluated(terminal: Terminal, root: Path, *more: str) -> Done:
    return terminal.run("eval", "run", "--groups", "12", "--out", str(root), *more)


def only_folder(root: Path) -> Path:
    (folder,) = root.glob("eval_*")
    return folder


def files_of(root: Path) -> dict[str, bytes]:
    return {each.relative_to(root).as_posix(): each.read_bytes() for each in root.rglob("*") if each.is_file()}


@pytest.mark.one_of_its_kind
def test_a_table_with_intervals_truths_and_gates(terminal: Terminal, tmp_path: Path) -> None:
    told = evaluated(terminal, tmp_path / "one")

    assert told.code == 0
    assert SIMULATED in told.out
    assert "reviewed correctly       0." in told.out
    assert told.out.count("its truth") == 9
    assert "paired, ship gate of advisor-pattern-v2 (within 2 points, under 30% of the cost)" in told.out
    assert "paired, corrected gate (dollars for a correct review, against the cheapest single model)" in told.out
    assert {Path(name).name for name in files_of(tmp_path / "one")} == {
        ".gitignore",
        "manifest.json",
        "results.jsonl",
        "summary.json",
        "summary.txt",
    }


def test_the_same_bytes_come_out_twice(terminal: Terminal, tmp_path: Path) -> None:
    first, second = (evaluated(terminal, tmp_path / name) for name in ("one", "two"))

    assert first.out == second.out
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_json_labels_what_is_simulated_and_has_every_gate(terminal: Terminal, tmp_path: Path) -> None:
    told = json.loads(evaluated(terminal, tmp_path, "--json", "--arms", "executor-only,paired").out)

    assert told["label"].startswith("simulated, known truth")
    assert [arm["name"] for arm in told["arms"]] == ["executor-only", "paired"]
    assert told["arms"][0]["measures"]["recall"].keys() == {"value", "low", "high", "truth"}
    assert [(gate["gate"], gate["answer"]) for gate in told["gates"]] == [
        ("ship", "not_applicable"),
        ("cost_of_correct", "undecided"),
    ]


def test_what_was_interrupted_goes_on_where_it_was(terminal: Terminal, tmp_path: Path) -> None:
    whole = evaluated(terminal, tmp_path)
    folder = only_folder(tmp_path)
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").unlink()
    (folder / "results.partial.jsonl").write_bytes(b"".join(lines[:100]) + lines[100][:50])

    unfinished = terminal.run("eval", "show", str(folder))
    again = evaluated(terminal, tmp_path)

    assert unfinished.code == 2
    assert "is not over: run it again, and it goes on." in unfinished.err
    assert again.out == whole.out
    assert again.err.startswith("112/144")
    assert (folder / "results.jsonl").read_bytes() == b"".join(lines)
    assert not (folder / "results.partial.jsonl").exists()


@pytest.mark.parametrize(
    "many, told", [(1, "lacks one review: that of "), (2, "lacks 2 of 144 reviews, the first of ")]
)
def test_results_that_lack_reviews_are_not_shown_and_the_first_is_named(
    terminal: Terminal, tmp_path: Path, many: int, told: str
) -> None:
    evaluated(terminal, tmp_path)
    results = only_folder(tmp_path) / "results.jsonl"
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[many:]))
    shown = terminal.run("eval", "show", str(results.parent))
    assert shown.code == 2
    assert told in shown.err


def test_what_is_there_is_not_asked_again_unless_it_is_wanted(terminal: Terminal, tmp_path: Path) -> None:
    evaluated(terminal, tmp_path)

    assert evaluated(terminal, tmp_path).err == f"All was there already: {only_folder(tmp_path)}\n"
    assert "144/144" in evaluated(terminal, tmp_path, "--fresh").err


def test_shards_of_several_machines_make_the_whole(terminal: Terminal, tmp_path: Path) -> None:
    whole = evaluated(terminal, tmp_path / "whole")
    for number in (1, 2, 3):
        evaluated(terminal, tmp_path / str(number), "--shard", f"{number}/3")
    shards = [str(only_folder(tmp_path / str(number))) for number in (1, 2, 3)]

    merged, again = (terminal.run("eval", "merge", *shards, "--out", str(tmp_path / "merged")) for _ in range(2))

    assert (merged.code, merged.out) == (again.code, again.out) == (0, whole.out)
    assert files_of(tmp_path / "merged") == files_of(tmp_path / "whole")
    for given, says in ((shards[:2], "Missing: shard 3/3."), ([*shards, shards[0]], "There twice: shard 1/3.")):
        refused = terminal.run("eval", "merge", *given, "--out", str(tmp_path / "refused"))
        assert (refused.code, refused.err) == (2, f"Error: {says}\n")


@pytest.mark.one_of_its_kind
def test_one_shard_is_joined_shown_and_compared(terminal: Terminal, tmp_path: Path) -> None:
    few = ("eval", "run", "--groups", "1", "--arms", "executor-only")
    told = terminal.run(*few, "--shard", "1/1", "--out", tmp_path / "shard")

    joined = terminal.run("eval", "merge", only_folder(tmp_path / "shard"), "--out", tmp_path / "whole")
    shown, compared = (terminal.run("eval", verb, only_folder(tmp_path / "whole")) for verb in ("show", "compare"))

    assert (told.code, joined.code, shown.code, compared.code) == (0, 0, 0, 0)
    assert told.out == joined.out == shown.out
    assert f"1: {only_folder(tmp_path / 'whole').name}" in compared.out


@pytest.mark.parametrize("kept", ["results.jsonl", "results.partial.jsonl"])
def test_a_merge_takes_the_place_of_no_result(terminal: Terminal, tmp_path: Path, kept: str) -> None:
    """An evaluation that was begun on this machine before it was cut into shards: what it has was paid for."""
    evaluated(terminal, tmp_path / "out", "--arms", "paired")
    folder = only_folder(tmp_path / "out")
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").rename(folder / kept)
    (folder / kept).write_bytes(b"".join((lines[0], *lines)))  # of one review there was an earlier try
    before = files_of(folder)
    evaluated(terminal, tmp_path / "shard", "--arms", "paired", "--shard", "1/1")
    shard = only_folder(tmp_path / "shard")

    refused = terminal.run("eval", "merge", str(shard), "--out", str(tmp_path / "out"))

    says = f"{folder} has results already, and nothing is written over them: use another --out."
    assert (refused.code, refused.sentence) == (2, says)
    assert files_of(folder) == before


def test_a_shard_without_a_case_is_a_whole_shard(terminal: Terminal, tmp_path: Path) -> None:
    """Four machines, three cases."""
    for number in range(1, 5):
        out = ("--out", str(tmp_path / str(number)))
        done = terminal.run("eval", "run", "--groups", "1", "--shard", f"{number}/4", *out)
        assert done.code == 0, done.err
    shards = [str(only_folder(tmp_path / str(number))) for number in range(1, 5)]

    merged = terminal.run("eval", "merge", *shards, "--out", str(tmp_path / "merged"))

    assert merged.code == 0
    assert "3 cases in 1 group" in merged.out


def test_side_by_side_reviews_come_to_the_same(terminal: Terminal, tmp_path: Path) -> None:
    assert evaluated(terminal, tmp_path / "a").out == evaluated(terminal, tmp_path / "b", "--jobs", "4").out
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_two_evaluations_of_one_set_are_put_beside_one_another(terminal: Terminal, tmp_path: Path) -> None:
    evaluated(terminal, tmp_path / "a", "--arms", "advisor-only")
    evaluated(terminal, tmp_path / "b", "--arms", "paired")
    evaluated(terminal, tmp_path / "c", "--arms", "paired", "--seed", "18")
    one, two, other = (str(only_folder(tmp_path / name)) for name in "abc")

    beside = terminal.run("eval", "compare", one, two)
    refused = terminal.run("eval", "compare", one, other)

    assert beside.code == 0
    assert "advisor-only" in beside.out.splitlines()[5]
    assert "less than 30% of the cost of advisor-only" in beside.out
    assert refused.code == 2
    assert "cannot be compared. They are of different golden sets" in refused.err


def test_an_evaluation_before_and_one_after_are_put_beside_one_another(terminal: Terminal, tmp_path: Path) -> None:
    """The same arms over the same cases, under other prices."""
    for name in ("before", "after"):
        evaluated(terminal, tmp_path / name, "--arms", "executor-only,paired")
    before, after = (only_folder(tmp_path / name) for name in ("before", "after"))
    manifest = after / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"prices": ""', '"prices": "2026-03-01"'), "utf-8")

    beside = terminal.run("eval", "compare", str(before), str(after))

    lines = beside.out.splitlines()
    assert beside.code == 0, beside.err
    assert lines[2].startswith(f"1: {before.name}, prices of none")
    assert lines[3].endswith("prices of 2026-03-01")
    assert lines[5].split() == ["1:executor-only", "1:paired", "2:executor-only", "2:paired"]
    truths = [line for line in lines if line.startswith("  its truth")]
    assert len(truths) == 9
    assert all(len(line.split()) == 6 for line in truths)


def test_halves_of_a_set_are_not_compared(terminal: Terminal, tmp_path: Path) -> None:
    for number, arm in ((1, "paired"), (2, "advisor-only")):
        evaluated(terminal, tmp_path / str(number), "--arms", arm, "--shard", f"{number}/2")
    halves = [str(only_folder(tmp_path / str(number))) for number in (1, 2)]

    refused = terminal.run("eval", "compare", *halves)

    assert refused.code == 2
    assert "They are of different parts of the cases: shards 1/2 and 2/2." in refused.err


BROKEN = {
    "cut into no part": ("manifest.json", '"of": 1', '"of": 0'),
    "never ends": ("manifest.json", '"repetitions": 1', '"repetitions": 100000000000'),
    "no number": ("results.jsonl", '"lost":0', '"lost":NaN'),
    "less than nothing": ("results.jsonl", '"correct":1', '"correct":-5'),
    "more than all": ("results.jsonl", '"correct":1', '"correct":5'),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_folder_of_others_is_refused_in_a_sentence_and_the_dashboard_shows_the_others(
    terminal: Terminal, tmp_path: Path, broken: tuple[str, str, str]
) -> None:
    evaluated(terminal, tmp_path / "kept", "--arms", "paired")
    file, was, now = broken
    foreign = only_folder(tmp_path / "kept") / file
    text = foreign.read_text(encoding="utf-8")
    assert was in text
    foreign.write_text(text.replace(was, now), encoding="utf-8")
    evaluated(terminal, tmp_path / "kept", "--arms", "council")

    shown = terminal.run("eval", "show", str(foreign.parent))
    page = terminal.run("ui", "--evaluations", str(tmp_path / "kept"), "--out", str(tmp_path / "page"))

    assert shown.code == 2
    assert shown.err.startswith("Error: ")
    assert shown.err.count("\n") == 1
    assert page.code == 0, page.err


def test_whatever_can_be_asked_can_be_read_again(terminal: Terminal, tmp_path: Path) -> None:
    asked = ("--groups", "1", "--arms", "paired", "--repeat", "20", "--shard", "9999/9999", "--seed", str(2**31))

    assert terminal.run("eval", "run", *asked, "--out", str(tmp_path)).code == 0
    assert terminal.run("eval", "show", str(only_folder(tmp_path))).code == 0


def test_the_noise_of_an_arm_stands_beside_it(terminal: Terminal, tmp_path: Path) -> None:
    told = evaluated(terminal, tmp_path, "--repeat", "2", "--arms", "paired")

    assert "of 36 repetitions agree with the one before, BELOW the noise floor of 95%." in told.out


def test_a_gate_decides_how_it_ends(terminal: Terminal, tmp_path: Path) -> None:
    arms = ("--arms", "executor-only,paired", "--groups", "150")

    assert evaluated(terminal, tmp_path, *arms, "--gate", "cost_of_correct").code == 0
    assert evaluated(terminal, tmp_path, *arms, "--gate", "ship").code == 10
    assert evaluated(terminal, tmp_path, *arms).code == 0


@pytest.mark.parametrize("given,says", [("4/3", "--shard is '4/3': use I/N, as in 2/5."), ("0/3", "--shard is '0/3'")])
def test_a_shard_that_cannot_be_is_a_usage_error(terminal: Terminal, tmp_path: Path, given: str, says: str) -> None:
    refused = evaluated(terminal, tmp_path, "--shard", given)

    assert refused.code == 2
    assert says in refused.err


def test_a_folder_that_holds_something_else_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    refused = terminal.run("eval", "show", str(tmp_path))

    assert refused.code == 2
    assert refused.err == f"Error: {tmp_path} holds no evaluation: manifest.json is not there, or not ours.\n"


def test_what_is_shown_is_read_and_nothing_is_written(terminal: Terminal, tmp_path: Path) -> None:
    whole = evaluated(terminal, tmp_path)
    folder = only_folder(tmp_path)
    for name in ("summary.json", "summary.txt"):
        (folder / name).unlink()
    before = files_of(tmp_path)

    shown = terminal.run("eval", "show", str(folder))
    paged = terminal.run("ui", "--evaluations", str(tmp_path), "--out", str(tmp_path.with_name("pages")))

    assert (shown.code, shown.out) == (0, whole.out)
    assert paged.code == 0, paged.err
    assert files_of(tmp_path) == before


def test_what_cannot_be_read_is_not_called_kept(terminal: Terminal, tmp_path: Path) -> None:
    evaluated(terminal, tmp_path)
    folder = only_folder(tmp_path)
    (folder / "results.jsonl").unlink()
    (folder / "results.jsonl").mkdir()

    refused = terminal.run("eval", "show", str(folder))

    assert (refused.code, refused.sentence) == (2, f"The evaluation in {folder} cannot be read: Is a directory.")


def test_results_are_not_written_through_a_link(terminal: Terminal, tmp_path: Path) -> None:
    evaluated(terminal, tmp_path)
    folder, target = only_folder(tmp_path), tmp_path / "elsewhere"
    (folder / "results.jsonl").unlink()
    (folder / "results.jsonl").symlink_to(target)

    refused = evaluated(terminal, tmp_path)

    assert refused.code == 2
    assert "is a symbolic link: it is not written through." in refused.err
    assert not target.exists()
