"""Pictures and the wiki through the installed command: configuration, working folder, what is left behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from tests.adapters.command_line import CONFIRM, Terminal, project, script, scripted_review
from tests.adapters.git_repository import Repo

from review_advisor.app.review import Selection
from review_advisor.policy.surfaces import Surface
from review_advisor.review.ports import ArtifactError
from review_advisor.review.rulings import Outcome

CONFIG = ".review-advisor.toml"


def png(colour: str) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (40, 40), colour).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.every_case
def test_the_static_checks_see_no_picture_and_call_a_human(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write(CONFIG, 'visual_paths = ["*.png"]\n')
    repo.write("a.png", png("red"))
    repo.commit()
    repo.write("a.png", png("blue"))
    repo.commit()
    done = terminal.examine("--explain")
    assert done.code == 11, done.err
    assert "a.png was not checked: no rule sees a picture" in done.out
    assert "Pictures: 1\n  a.png: 1600 pixels differ" in done.out
    assert list(terminal.temporary.iterdir()) == []


def test_a_folder_outside_the_repository_is_refused(terminal: Terminal) -> None:
    for value in ("../x", "/tmp/x", "", ".git/hooks", "a/../../b"):
        (terminal.folder / CONFIG).write_text(f"wiki_folder = {json.dumps(value)}\n")
        done = terminal.review("--config", CONFIG)
        assert done.code == 2
        assert done.sentence == f"{CONFIG}: wiki_folder: name a folder inside the repository."


@pytest.mark.parametrize("folder", [".github/workflows", ".claude", "web/.Claude/skills", ".agents", ".cursor/rules"])
def test_a_wiki_where_an_agent_or_ci_takes_its_orders_is_refused(terminal: Terminal, folder: str) -> None:
    (terminal.folder / CONFIG).write_text(f"wiki_folder = {json.dumps(folder)}\n")
    done = terminal.review("--config", CONFIG)
    assert done.code == 2
    words = "name a folder that configures no agent, editor or CI system"
    assert done.sentence == f"{CONFIG}: wiki_folder: {words}."


def replies_in(folder: Path, **replies: Sequence[object]) -> Path:
    """A script nobody has played yet."""
    folder.mkdir()
    return script(folder, **replies)


def learns(evidence: str) -> dict[str, object]:
    entry = {"title": "It counts", "body": "Everything here is counted.", "path": "app.py", "evidence": evidence}
    return {"answer": {"verdict": "approve", "summary": "fine", "confidence": 0.9, "knowledge": [entry]}}


@pytest.mark.every_case
def test_a_page_goes_to_the_repository_and_beside_the_review_and_never_over_another(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo")
    config = tmp_path / "config.toml"
    config.write_text('wiki_folder = "docs/wiki"\n')
    replies = replies_in(tmp_path / "script1", ReviewReport=[learns("y = 2")], PostVerifyResult=[CONFIRM, CONFIRM])
    first = scripted_review(repo.path, replies, config=config)
    assert first.document.outcome is Outcome.APPROVED
    page = repo.path / "docs/wiki/it-counts.md"
    kept = first.folder / "wiki/it-counts.md"
    assert page.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    assert f'head: "{repo.rev("HEAD")}"' in page.read_text(encoding="utf-8")
    page.write_text("mine\n")
    replies = replies_in(tmp_path / "script2", ReviewReport=[learns("y = 2")], PostVerifyResult=[CONFIRM, CONFIRM])
    second = scripted_review(repo.path, replies, config=config)
    assert page.read_text() == "mine\n"
    assert second.document.surfaces[-1].stored[0].not_in_repository == "a file of that name is there already"
    repo.commit()
    repo.write("app.py", "x = 1\ny = 3\n")
    repo.commit()
    replies = replies_in(tmp_path / "script3", ReviewReport=[learns("y = 3")])
    third = scripted_review(repo.path, replies, config=config)
    (report,) = third.document.surfaces[-1].parts[0].reports
    assert [each.why for each in report.dropped] == ["it-counts.md is already there"]
    assert not (third.folder / "wiki").exists()


@pytest.mark.every_case
def test_a_patch_has_no_working_folder_to_store_in(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo")
    config = tmp_path / "config.toml"
    config.write_text('wiki_folder = "wiki"\n')
    patch = tmp_path / "change.diff"
    patch.write_bytes(repo.git("diff", "HEAD~1..HEAD"))
    replies = replies_in(tmp_path / "script4", ReviewReport=[learns("y = 2")], PostVerifyResult=[CONFIRM, CONFIRM])
    done = scripted_review(repo.path, replies, config=config, selection=Selection("patch", str(patch)))
    (record,) = [surface for surface in done.document.surfaces if surface.surface is Surface.WIKI_INGEST]
    assert record.stored[0].not_in_repository == "the change comes without a working folder"
    assert (done.folder / "wiki/it-counts.md").exists()
    assert not (repo.path / "wiki").exists()


@pytest.mark.every_case
def test_an_older_reviews_pages_are_cleared_and_a_link_is_refused(tmp_path: Path) -> None:
    repo = project(tmp_path / "repo")
    config = tmp_path / "config.toml"
    config.write_text('wiki_folder = "wiki"\n')
    replies = replies_in(tmp_path / "script5", ReviewReport=[learns("y = 2")], PostVerifyResult=[CONFIRM, CONFIRM])
    done = scripted_review(repo.path, replies, config=config)
    replies = replies_in(tmp_path / "script6")
    again = scripted_review(repo.path, replies, config=config)
    assert again.folder == done.folder
    assert not (again.folder / "wiki").exists()
    (again.folder / "wiki").symlink_to(tmp_path)
    with pytest.raises(ArtifactError, match="symbolic link"):
        scripted_review(repo.path, replies, config=config)
