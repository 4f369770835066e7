from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.change import EXECUTABLE_MODE, SUBMODULE_MODE, Change, FileChange, Hunk, Spec, Status
from review_advisor.change.diff_text import render_files, render_statistics
from review_advisor.change.shards import (
    CHARACTERS_PER_TOKEN,
    LONGEST_SPEC,
    Shard,
    Unsent,
    must_be_read,
    shards,
    unsent_of,
)
from review_advisor.mockworld.world import edited

LINE = st.tuples(st.sampled_from(" +-"), st.text(st.characters(exclude_characters="\n"), max_size=60)).map("".join)
LONG = st.integers(300, 3000).map(lambda n: "+" + "x" * n)
LINES = st.lists(LINE | LINE | LINE | LONG, min_size=1, max_size=40).map(tuple)
NAME = st.sampled_from(("file", "file", '"', "\x07" * 20, "\N{ZERO WIDTH SPACE}" * 20))


@st.composite
def files(draw: st.DrawFn) -> tuple[FileChange, ...]:
    made = []
    for n in range(draw(st.integers(0, 6))):
        hunks, old, new = [], 1, 1
        for lines in draw(st.lists(LINES, max_size=4)):
            olds, news = sum(line[0] in " -" for line in lines), sum(line[0] in " +" for line in lines)
            hunks.append(Hunk(old, olds, new, news, "", lines))
            old, new = old + olds + 5, new + news + 5
        path = f"src/{draw(NAME)}{n}.py"
        made.append(FileChange(Status.RENAMED, path, old_path=f"{path}c", hunks=tuple(hunks)))
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


def test_a_path_takes_as_much_room_as_it_is_shown_with() -> None:
    odd = "\N{ZERO WIDTH SPACE}" * 60
    changed = tuple(edited(f"{n}{odd}.py", 3) for n in range(30))
    parts, unsent = shards(Change("x", files=changed), 1_000)
    shown = [len(render_files(part.files)) + len(render_statistics(part.files)) for part in parts]
    assert unsent == ()
    assert max(shown) <= 1_000 * CHARACTERS_PER_TOKEN


def test_a_file_whose_path_is_not_shown_whole_is_named_as_not_sent() -> None:
    changed = edited("src/" + "x" * 100_000 + ".py", 3)
    _, unsent = shards(Change("x", files=(changed,)), 10_000)
    assert [each.path for each in unsent] == [changed.path]


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
    assert unsent_of(parts[0], (Unsent("a.py", "partly", "long"), Unsent("z.py", "not", "binary"))) == (
        Unsent("a.py", "partly", "long"),
    )


def test_a_part_says_nothing_of_what_other_parts_cannot_send() -> None:
    text = FileChange(Status.MODIFIED, "a.py", hunks=(Hunk(1, 0, 1, 1, "", ("+" * 300, "+" * 150)),))
    tool = FileChange(Status.ADDED, "tools/tool.bin", binary=True)
    parts, unsent = shards(Change("x", files=(text, tool)), 150)
    assert [part.files for part in parts] == [(text,), (tool,)]
    assert [unsent_of(part, unsent) for part in parts] == [(), unsent]


def test_a_change_without_a_file_is_one_part() -> None:
    assert shards(Change("x"), 100) == ((Shard(0, ()),), ())


PICTURE = FileChange(Status.MODIFIED, "static/logo.png", binary=True)


@pytest.mark.parametrize(
    "file, why",
    [
        (FileChange(Status.ADDED, "run.sh", binary=True), "binary content that is not an image, a sound, a font or a"),
        (replace(PICTURE, new_mode=EXECUTABLE_MODE), "binary content that is not an image, a sound, a font or a"),
        (replace(PICTURE, old_path="run.sh"), "binary content that is not an image, a sound, a font or a document"),
        (
            FileChange(Status.ADDED, "lib", new_mode=SUBMODULE_MODE),
            "a submodule: its content is not part of the change",
        ),
    ],
)
def test_content_that_cannot_be_sent_is_named(file: FileChange, why: str) -> None:
    (part,), (gap,) = shards(Change("x", files=(file,)), 1_000)
    assert part.files == (file,)
    assert (gap.path, gap.extent) == (file.path, "not")
    assert gap.why.startswith(why)


def test_a_picture_may_stay_unread_but_not_where_every_change_must_be_read() -> None:
    change = Change(
        "x", files=(PICTURE, replace(PICTURE, path="static/b.png", old_path="static/a.png"), edited("x.py"))
    )
    assert shards(change, 1_000)[1] == ()
    why = "binary content where every change must be read"
    assert must_be_read(change, ["x.py", "static/c.png"]) == ()
    assert must_be_read(change, ["static/logo.png"]) == (Unsent("static/logo.png", "not", why),)
    assert must_be_read(change, ["static/a.png"]) == (Unsent("static/b.png", "not", why),)


@pytest.mark.parametrize("length, said", [(LONGEST_SPEC, 0), (LONGEST_SPEC + 1, 1)])
def test_a_specification_that_is_too_long_is_named(length: int, said: int) -> None:
    gaps = [Unsent("specification docs/x.md", "partly", "longer than 100000 characters")][:said]
    assert shards(Change("x", spec=Spec("docs/x.md", "x" * length)), 1_000)[1] == tuple(gaps)


@pytest.mark.parametrize("executable", [True, False])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("path", ["static/logo.png", "tool.bin"])
def test_only_binary_media_that_nobody_can_execute_has_to_be_read_on_request(
    path: str, binary: bool, executable: bool
) -> None:
    file = FileChange(Status.ADDED, path, new_mode=EXECUTABLE_MODE if executable else "100644", binary=binary)
    named = must_be_read(Change("x", files=(file,)), [path])
    assert bool(named) is (path.endswith(".png") and binary and not executable)


@pytest.mark.parametrize("length", range(400, 404))
@pytest.mark.parametrize("of", ["files", "hunks", "lines"])
def test_every_part_is_filled_as_the_first_one_is(of: str, length: int) -> None:
    """Files of a change, hunks of a file, lines of a hunk: four of one size, in the least room for two of them."""

    def change(number: int) -> Change:
        line = "+" + "x" * length
        if of == "files":
            made = [Hunk(1, 0, 1, 1, "", (line,))]
            return Change(
                "x", files=tuple(FileChange(Status.ADDED, f"{n}.py", hunks=tuple(made)) for n in range(number))
            )
        hunks = [Hunk(n, 0, n, 1, "", (line,)) for n in range(number)]
        if of == "lines":
            hunks = [Hunk(1, 0, 1, number, "", (line,) * number)]
        return Change("x", files=(FileChange(Status.ADDED, "a.py", hunks=tuple(hunks)),))

    def sizes(number: int, tokens: int) -> list[int]:
        parts, unsent = shards(change(number), tokens)
        assert unsent == ()
        return [sum(len(hunk.lines) for file in part.files for hunk in file.hunks) for part in parts]

    least = next(tokens for tokens in range(200, 1_000) if sizes(2, tokens) == [2])
    assert sizes(2, least - 1) == [1, 1]
    assert sizes(6, least) == [2, 2, 2]
