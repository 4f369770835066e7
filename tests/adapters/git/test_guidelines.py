"""The team's own rules as git objects: of the base, never of the change."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.git_repository import Repo

from review_advisor.change.guidelines import MOST_READ, BaseText
from review_advisor.change.patch_source import open_patch
from review_advisor.change.sources import open_range, open_staged

PATHS = ("src/api/REVIEW.md", "src/REVIEW.md", "REVIEW.md")


def test_rules_are_those_of_the_base_whatever_the_change_makes_of_them(repo: Repo) -> None:
    repo.write("REVIEW.md", "of the base\n")
    repo.write("src/REVIEW.md", "deeper\n")
    repo.commit()
    repo.write("REVIEW.md", "of the head\n")
    repo.write("src/api/REVIEW.md", "new at the head\n")
    repo.commit()
    found = open_range(repo.path, "HEAD~1..HEAD").base_texts(PATHS)
    assert found == {"REVIEW.md": BaseText("of the base\n"), "src/REVIEW.md": BaseText("deeper\n")}


def test_of_staged_changes_and_of_a_patch_the_base_is_head(repo: Repo, tmp_path: Path) -> None:
    repo.write("REVIEW.md", "committed\n")
    repo.commit()
    repo.write("REVIEW.md", "staged\n")
    repo.git("add", "--all")
    patch = tmp_path / "x.patch"
    patch.write_bytes(repo.git("diff", "--cached"))
    committed = {"REVIEW.md": BaseText("committed\n")}
    assert open_staged(repo.path).base_texts(PATHS) == committed
    assert open_patch(patch, repo=repo.path).base_texts(PATHS) == committed
    assert open_patch(patch).base_texts(PATHS) == {}


def test_what_is_no_text_is_named_and_a_link_is_not_followed(repo: Repo) -> None:
    (repo.path / "AGENTS.md").symlink_to("secret")
    repo.write("REVIEW.md/inside", "a folder\n")
    repo.write("src/REVIEW.md", b"\0\1")
    repo.write("src/api/REVIEW.md", "x" * (MOST_READ + 1))
    repo.commit()
    found = open_range(repo.path, "HEAD..HEAD").base_texts([*PATHS, "AGENTS.md", "../REVIEW.md", "a\0b"])
    assert {path: each.problem for path, each in found.items()} == {
        "AGENTS.md": "it is a symbolic link",
        "REVIEW.md": "it is no file",
        "src/REVIEW.md": "it is no text",
        "src/api/REVIEW.md": "",
    }
    assert len(found["src/api/REVIEW.md"].text) == MOST_READ


def test_more_paths_than_one_command_line_holds_are_found(repo: Repo) -> None:
    repo.write("d1199/REVIEW.md", "far\n")
    repo.write("d1/REVIEW.md", "near\n")
    repo.commit()
    found = open_range(repo.path, "HEAD..HEAD").base_texts([f"d{number}/REVIEW.md" for number in range(1200)])
    assert found == {"d1/REVIEW.md": BaseText("near\n"), "d1199/REVIEW.md": BaseText("far\n")}
