from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from review_advisor.core.facts.change import Change, FileChange, Hunk, Status
from review_advisor.core.facts.diff_text import render_files
from review_advisor.core.facts.shards import CHARACTERS_PER_TOKEN, shards, unsent_of
from review_advisor.mockworld.world import edited

LINE = st.tuples(st.sampled_from(" +-"), st.text(st.characters(exclude_characters="\n"), max_size=60)).map("".join)
LONG = st.integers(300, 3000).map(lambda n: "+" + "x" * n)
LINES = st.lists(LINE | LINE | LINE | LONG, min_size=1, max_size=40).map(tuple)


@st.composite
def files(draw: st.DrawFn) -> tuple[FileChange, ...]:
    made = []
    for n in range(draw(st.integers(0, 6))):
        hunks, old, new = [], 1, 1
        for lines in draw(st.lists(LINES, max_size=4)):
            olds, news = sum(line[0] in " -" for line in lines), sum(line[0] in " +" for line in lines)
            hunks.append(Hunk(old, olds, new, news, "", lines))
            old, new = old + olds + 5, new + news + 5
        made.append(FileChange(Status.MODIFIED, f"src/file{n}.py", hunks=tuple(hunks)))
    return tuple(made)


def numbered(changed: tuple[FileChange, ...]) -> Iterator[tuple[str, int, int, str]]:
    for file in changed:
        for hunk in file.hunks:
            old, new = hunk.old_start, hunk.new_start
            for line in hunk.lines:
                yield file.path, old, new, line
                old += line[0] in " -"
                new += line[0] in " +"


@given(files(), st.integers(150, 2000))
def test_every_line_is_sent_once_in_order_or_its_file_is_named_d3(changed: tuple[FileChange, ...], tokens: int) -> None:
    parts, unsent = shards(Change("x", files=changed), tokens)
    named = {gap.path for gap in unsent}
    sent = list(numbered(tuple(file for part in parts for file in part.files)))
    whole = list(numbered(changed))
    assert [line for line in sent if line[0] not in named] == [line for line in whole if line[0] not in named]
    left = iter(whole)
    assert all(line in left for line in sent)
    for gap in unsent:
        has_any = any(line[0] == gap.path for line in sent)
        assert gap.extent == ("partly" if has_any else "not")


@given(files(), st.integers(150, 2000))
def test_no_part_is_larger_than_a_call_can_hold(changed: tuple[FileChange, ...], tokens: int) -> None:
    parts, _ = shards(Change("x", files=changed), tokens)
    for part in parts:
        assert len(render_files(part.files)) <= tokens * CHARACTERS_PER_TOKEN


@given(files(), st.integers(150, 2000))
def test_every_file_appears_and_parts_count_from_nought(changed: tuple[FileChange, ...], tokens: int) -> None:
    parts, _ = shards(Change("x", files=changed), tokens)
    assert [part.index for part in parts] == list(range(len(parts)))
    assert {file.path for part in parts for file in part.files} == {file.path for file in changed}


@given(files())
def test_a_small_change_is_one_part(changed: tuple[FileChange, ...]) -> None:
    parts, unsent = shards(Change("x", files=changed), 1_000_000)
    assert unsent == ()
    assert [part.files for part in parts] == [changed]


def test_a_part_knows_what_of_its_files_is_missing() -> None:
    change = Change("x", files=(edited("a.py", 1, "x" * 5000), edited("b.py", 1)))
    parts, unsent = shards(change, 400)
    assert [gap.path for gap in unsent_of(parts[0], unsent)] == ["a.py"]
    assert [gap.path for gap in unsent] == ["a.py"]
