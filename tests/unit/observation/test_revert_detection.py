"""What later commits do to a change: taken back or not, and never by what they say."""

from __future__ import annotations

import pytest

from review_advisor.core.observation.revert_detection import (
    Lines,
    Touched,
    brings_the_same,
    changed_lines,
    gives_back,
    may_undo,
    moved_share,
    names_renames,
    of_file,
    restores,
    undoes,
    weights,
)


def touched(path: str = "app.py", old_path: str | None = None, old: str = "1", new: str = "2") -> Touched:
    return Touched(path if old_path is None else old_path, path, old, new)


def brought(*lines: str, path: str = "app.py") -> Lines:
    return Lines((path, line[0], line[1:]) for line in lines)


@pytest.mark.parametrize(
    "later, back",
    [
        (("-x = 2", "+x = 1", "-y = 3", "-z = 4", "-w = 5"), True),
        (("-x = 2", "+x = 1", "-y = 3", "-z = 4"), True),
        (("-x = 2", "+x = 1", "-y = 3", "-z = 4", "-w = 5", "+q"), True),
        (("-x = 2", "+x = 1", "-y = 3"), False),
        (("-y = 3",), False),
        (("-x = 2", "+x = 1", "-y = 3", "-z = 4", "-w = 5", "+y = 4", "+z = 5"), False),
        ((), False),
    ],
)
def test_who_undoes_most_of_a_change_and_does_little_else_takes_it_back(later: tuple[str, ...], back: bool) -> None:
    change = brought("-x = 1", "+x = 2", "+y = 3", "+z = 4", "+w = 5")
    assert undoes(change, brought(*later)) is back


def test_lines_are_undone_in_their_own_file_and_only_so_often_as_they_were_brought() -> None:
    assert not undoes(brought("+x = 2"), brought("-x = 2", path="other.py"))
    assert undoes(brought("+x = 2", "+x = 2"), brought("-x = 2", "-x = 2"))
    assert not undoes(brought("+x = 2"), brought("-x = 2", "-x = 2"))


def test_lines_that_only_move_are_not_undone() -> None:
    change = brought("+a = 1", "+b = 2")
    away = brought("-a = 1", "-b = 2")
    assert undoes(change, away)
    assert not undoes(change + brought("+c", path="other.py"), away + brought("+a = 1", "+b = 2", path="other.py"))
    assert moved_share(away, brought("+  a = 1", "+b = 2", path="new.py")) == 1, "to another file, indented"
    assert moved_share(away, brought("+log", path="log.md")) == 0
    assert moved_share(Lines(), brought("+log", path="log.md")) == 0
    assert moved_share(away, brought("+b  = 2", path="new.py")) == 0.5
    assert moved_share(away, brought("-b = 2", path="new.py")) == 0
    assert moved_share(away + brought("-}"), brought("+}", "+a = 1", "+b = 2", path="new.py")) == 1, "no word, no move"


def test_who_takes_a_move_back_moves_the_lines_back() -> None:
    change = brought("-a = 1", "-b = 2", path="old.py") + brought("+a = 1", "+b = 2", path="new.py")
    back = brought("+a = 1", "+b = 2", path="old.py") + brought("-a = 1", "-b = 2", path="new.py")
    assert undoes(change, back)


def test_a_change_without_lines_is_taken_back_by_whoever_restores_its_files() -> None:
    nothing = Lines()
    assert not undoes(nothing, nothing)
    assert not undoes(nothing, brought("-x"))
    picture = (touched("a.png"), touched("b.png"))
    assert restores(picture, [each.back for each in (*picture, touched("c.png"))])
    assert not restores(picture, [picture[0].back])
    assert not restores((), ())


def test_a_rename_is_taken_back_by_the_rename_the_other_way() -> None:
    moved = touched("new.py", "old.py")
    assert moved.is_moved
    assert not touched().is_moved
    assert restores([moved], [moved.back])
    change = changed_lines(moved, "x = 1\n", "x = 2\n")
    assert change == Lines({("old.py", "-", "x = 1"): 1, ("new.py", "+", "x = 2"): 1})
    assert undoes(change, changed_lines(moved.back, "x = 2\n", "x = 1\n"))


def test_changed_lines_are_those_that_only_one_side_has() -> None:
    assert changed_lines(touched(), "a\n\nb\nb\n", "b\na\n  \nc\n") == brought("-b", "+c")


def test_only_who_touches_the_files_of_most_lines_can_undo_them() -> None:
    change = brought("+a", "+b", "+c", "+d") + brought("+lock", path="x.lock")
    assert weights(change) == {"app.py": 4, "x.lock": 1}
    assert may_undo(weights(change), [touched()])
    assert may_undo(weights(change), [touched("elsewhere.py", "app.py")])
    assert not may_undo(weights(change), [touched("x.lock")])
    assert not may_undo(weights(Lines()), [touched()])


def test_among_too_many_files_git_names_no_renames() -> None:
    gone, made = [touched("", "a", new="")] * 1_000, [touched("b", "", old="")] * 1_000
    assert names_renames([*gone, *made, touched()])
    assert not names_renames([*gone, *made, touched("b", "", old="")])


def test_a_file_is_found_by_the_name_that_it_had_and_else_by_the_one_that_it_got() -> None:
    away, made = touched("b.py", "app.py"), touched("app.py", "")
    assert of_file([made, away], "app.py") == away
    assert of_file([made], "app.py") == made
    assert of_file([touched("c.py")], "app.py") is None
    assert of_file([touched("", "app.py", new="")], "app.py") is not None


def test_a_move_a_mode_a_link_and_a_submodule_are_given_back_beside_any_lines() -> None:
    plain = Touched("a.py", "a.py", "1", "2", ("100644 1", "100644 2"))
    moved = Touched("old.py", "new.py", "1", "2", ("100644 1", "100644 2"))
    runs = Touched("run.sh", "run.sh", "1", "1", ("100644 1", "100755 1"))
    submodule = Touched("lib", "lib", "", "", ("160000 1", "160000 2"))
    link = Touched("", "link", "", "", ("", "120000 1"))
    made = Touched("", "made.py", "", "1", ("", "100644 1"))
    assert [each.is_more_than_lines for each in (plain, made)] == [False, False]
    for each in (moved, runs, submodule, link):
        assert each.is_more_than_lines
        assert gives_back((plain, each), [each.back])
        assert not gives_back((plain, each), [plain.back])
    edited = Touched("new.py", "old.py", "3", "4", ("100644 3", "100644 4"))
    assert gives_back((moved,), [edited]), "whatever else became of its lines"
    another = Touched("lib", "lib", "", "", ("160000 2", "160000 3"))
    assert not gives_back((submodule,), [another])
    assert brings_the_same((plain, submodule), (submodule,))
    assert not brings_the_same((submodule,), (another,))
