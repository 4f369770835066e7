"""What is looked up in a tree for reviewers: files and uses of names, whatever the tree holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.agents.prompts import around_section, look_around
from review_advisor.change import git_trees as head_lines
from review_advisor.change.around import LARGEST_FILE, UseCollector, looked_into
from review_advisor.change.patch_source import open_patch
from review_advisor.change.sources import GitSource, open_range

OPENED: list[GitSource] = []


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    yield Repo(tmp_path / "repo")
    while OPENED:
        OPENED.pop().close()


def source(repo: Repo) -> GitSource:
    repo.commit()
    OPENED.append(open_range(repo.path, "HEAD~1..HEAD"))
    return OPENED[-1]


def used(source: GitSource, *names: str, near: tuple[str, ...] = ()) -> tuple[dict[str, list[tuple[str, int]]], bool]:
    collector = UseCollector(names, near)
    whole = source.collect_uses(collector)
    return {uses.name: [(use.path, use.line) for use in uses.shown] for uses in collector.uses()}, whole


@pytest.mark.parametrize(
    "name", ["-e", "--open-files-in-pager=touch it-ran", "-Otouch it-ran", "-f/etc/passwd", "a.*b"]
)
def test_a_name_is_neither_an_option_nor_a_pattern(repo: Repo, name: str) -> None:
    """Such a name is never looked for, because it is no identifier: and if it were, it would be a text."""
    repo.write("a.txt", "acb\n")
    repo.commit()
    repo.write("b.py", f"{name}\n")
    found, whole = used(source(repo), name)
    assert (set(found) | {name}, whole) == ({name}, True)
    assert {path for places in found.values() for path, _ in places} <= {"b.py"}
    assert not list(repo.path.glob("it-ran"))


def test_files_with_any_name_are_read_and_searched(repo: Repo) -> None:
    names = ["a\nb.py", "-e", "a:1:b.py", "--open-files-in-pager", "*.py", ":(top)x.py", 'say "x".py']
    repo.write("before")
    repo.commit()
    for number, name in enumerate(names):
        repo.write(f"./{name}", "\n" * number + "sell()\n")
    opened = source(repo)
    assert opened.head_texts(names) == {name: "\n" * number + "sell()\n" for number, name in enumerate(names)}
    collector = UseCollector(("sell",), ())
    assert opened.collect_uses(collector)
    (sell,) = collector.uses()
    assert sell.more + len(sell.shown) == len(names)
    assert all(names[use.line - 1] == use.path for use in sell.shown)


def test_the_attributes_of_the_head_hide_nothing_and_run_nothing(repo: Repo, tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    repo.write("a.py", "x\n")
    repo.commit()
    repo.write(".gitattributes", "*.py diff=evil binary -diff -text\n*.js diff=evil\n")
    repo.git("config", "diff.evil.textconv", f"touch {mark}; cat")
    repo.git("config", "diff.evil.xfuncname", ".*")
    repo.git("config", "grep.patternType", "perl")
    repo.git("config", "grep.fallbackToNoIndex", "true")
    for path in ("a.py", "a.js"):
        repo.write(path, "def sell():\n    x()\n")
    opened = source(repo)
    assert set(opened.head_texts(["a.py", "a.js"])) == {"a.py", "a.js"}
    assert used(opened, "sell") == ({"sell": [("a.js", 1), ("a.py", 1)]}, True)
    assert not mark.exists()


def test_links_submodules_folders_and_binary_files_are_passed_over(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("sell()\n")
    repo.write("a.py", "x\n")
    commit = repo.commit()
    repo.symlink("link.py", str(outside))
    repo.symlink("sell.py", "sell")
    repo.write("data.py", b"sell()\0\n")
    repo.write("folder/b.py", "x\n")
    repo.git("add", ".")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    repo.git("commit", "--quiet", "--message", "links")
    OPENED.append(open_range(repo.path, "HEAD~1..HEAD"))
    names = ["link.py", "sell.py", "data.py", "module", "folder", "gone.py", "../outside.py", "folder/b.py"]
    assert OPENED[-1].head_texts(names) == {"folder/b.py": "x\n"}
    assert used(OPENED[-1], "sell") == ({}, True)


@pytest.mark.every_case
def test_a_file_of_one_huge_line_is_neither_read_nor_shown(repo: Repo) -> None:
    repo.write("a.py", "def sell():\n    x()\n")
    repo.write("b.py", "sell()\n")
    repo.commit()
    repo.write("huge.py", "sell();" * 1_500_000)
    repo.write("a.py", "def sell(cart):\n    x()\n")
    opened = source(repo)
    assert opened.head_texts(["huge.py", "b.py"]) == {"b.py": "sell()\n"}
    found, whole = used(opened, "sell")
    assert "huge.py" not in {path for path, _ in found["sell"]}
    assert not whole, "behind the huge line there may be more"
    files = opened.change().files
    told = around_section(
        look_around(files, opened.head_texts([f.path for f in files]), opened.collect_uses, 4_000), "n"
    )
    assert len(told) < 4_000


def test_a_file_larger_than_the_bound_is_left_out(repo: Repo) -> None:
    repo.write("a.py", "x" * LARGEST_FILE)
    repo.commit()
    repo.write("b.py", "x" * (LARGEST_FILE + 1))
    assert set(source(repo).head_texts(["a.py", "b.py"])) == {"a.py"}


def test_all_files_together_stay_below_a_bound(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_lines, "MOST_BYTES", 10)
    repo.write("a.py", "12345678")
    repo.commit()
    repo.write("b.py", "123")
    repo.write("c.py", "12")
    assert set(source(repo).head_texts(["a.py", "b.py", "c.py"])) == {"a.py", "c.py"}


def test_a_name_in_100_000_places_ends_the_search_and_that_is_told(repo: Repo) -> None:
    repo.write("a.py", "def sell():\n    x()\n")
    repo.commit()
    for number in range(10):
        repo.write(f"m{number}.py", "sell()  # and more words of it here\n" * 10_000)
    found, whole = used(source(repo), "sell")
    assert len(found["sell"]) > 0
    assert not whole


@pytest.mark.every_case
def test_a_search_whose_time_is_over_is_not_whole(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_lines, "_SECONDS", 0.0)
    repo.write("a.py")
    repo.commit()
    for number in range(50):
        repo.write(f"b{number}.py", f"{number} sells\n" * 40_000)
    _, whole = used(source(repo), "sell")
    assert not whole


def test_a_tree_that_is_not_there_is_looked_into_in_vain(repo: Repo) -> None:
    repo.write("a.py")
    repo.commit()
    repo.write("b.py")
    opened = source(repo)
    assert opened.head_texts(["a.py"], "1" * 40) == {}
    assert not opened.collect_uses(UseCollector(("sell",), ()), "1" * 40)


def test_another_tree_is_looked_into_where_one_is_named(repo: Repo) -> None:
    repo.write("a.py", "sell()\n")
    repo.commit()
    before = repo.rev("HEAD^{tree}")
    repo.write("a.py", "buy()\n")
    opened = source(repo)
    assert opened.head_texts(["a.py"]) == {"a.py": "buy()\n"}
    assert opened.head_texts(["a.py"], before) == {"a.py": "sell()\n"}
    collector = UseCollector(("sell",), ())
    assert opened.collect_uses(collector, before)
    assert [uses.name for uses in collector.uses()] == ["sell"]


def test_a_patch_has_no_tree_to_look_into(tmp_path: Path) -> None:
    patch = tmp_path / "a.patch"
    patch.write_text(
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-def sell(): pass\n+def buy(): pass\n"
    )
    opened = open_patch(patch)
    assert looked_into(opened.change().files)
    assert opened.head_texts(["a.py"]) == {}
    collector = UseCollector(("sell",), ())
    assert (opened.collect_uses(collector), collector.uses()) == (False, ())


def test_the_change_of_a_real_commit_is_shown_with_what_stands_around_it(repo: Repo) -> None:
    body = [f"    step_{number}()\n" for number in range(20)]
    repo.write("shop.py", "".join(["class Shop:\n", "  def sell(self):\n", *body]))
    repo.write("till.py", "from shop import Shop\n\nShop().sell()\n")
    repo.commit()
    body[10] = "    step_ten()\n"
    repo.write("shop.py", "".join(["class Shop:\n", "  def sell(self):\n", *body]))
    opened = source(repo)
    files = opened.change().files
    told = around_section(look_around(files, opened.head_texts(["shop.py"]), opened.collect_uses, 4_000), "n")
    assert "LINES 1-9 of shop.py\n class Shop:\n   def sell(self):\n     step_0()\n" in told
    assert "LINES 17-22 of shop.py\n     step_14()\n" in told
    assert "USES of sell\n till.py:3: Shop().sell()\n" in told
    assert "step_10()" not in told
