"""A patch applied by real git to files that lie in no repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from review_advisor.change.change import CommittedFile, PatchRefused
from review_advisor.change.git_diff import GitPatcher

APP = CommittedFile("src/app.py", "100755", b"a = 1\nb = 2\n")
OTHER = CommittedFile("t\u00e4st.py", "100644", b"one\r\ntwo")
PATCH = """\
diff --git a/src/app.py b/src/app.py
index 1111111111..2222222222 100755
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,2 @@
 a = 1
-b = 2
+b = 3
"""
ADDED = """\
diff --git a/tests/new.py b/tests/new.py
new file mode 100644
--- /dev/null
+++ b/tests/new.py
@@ -0,0 +1 @@
+x = 1
"""


def apply(patch: str, *files: CommittedFile) -> dict[str, tuple[str, bytes]]:
    return {each.path: (each.mode, each.content) for each in GitPatcher().apply(patch, files)}


def test_files_are_changed_and_added_and_keep_their_modes() -> None:
    assert apply(PATCH + ADDED, APP) == {
        "src/app.py": ("100755", b"a = 1\nb = 3\n"),
        "tests/new.py": ("100644", b"x = 1\n"),
    }


def test_line_ends_and_a_missing_last_one_stay_as_they_are() -> None:
    patch = (
        'diff --git "a/t\\303\\244st.py" "b/t\\303\\244st.py"\n'
        '--- "a/t\\303\\244st.py"\n+++ "b/t\\303\\244st.py"\n'
        "@@ -1,2 +1,2 @@\n-one\r\n+ONE\r\n two\n\\ No newline at end of file\n"
    )
    assert apply(patch, OTHER) == {OTHER.path: ("100644", b"ONE\r\ntwo")}


@pytest.mark.parametrize(
    "patch",
    [
        PATCH.replace(" a = 1", " a = 9"),
        PATCH.replace("src/app.py", "src/gone.py"),
        ADDED.replace("tests/new.py", "src/app.py"),
        ADDED.replace("tests/new.py", "../new.py"),
        ADDED.replace("tests/new.py", ".git/config"),
        ADDED.replace("tests/new.py", "src/app.py/below"),
        PATCH + "@@ -9 +9 @@\n-x\n+y\n",
        "no patch",
        "",
    ],
)
def test_what_git_does_not_apply_is_refused_whole(patch: str) -> None:
    with pytest.raises(PatchRefused, match="git does not apply the patch"):
        GitPatcher().apply(patch, (APP,))


def test_nothing_is_left_and_the_callers_repository_and_configuration_have_no_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, home = tmp_path / "scratch", tmp_path / "home"
    scratch.mkdir()
    home.mkdir()
    (home / ".gitconfig").write_text("[apply]\n\twhitespace = error-all\n[core]\n\tautocrlf = true\n")
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert apply(PATCH.replace("+b = 3", "+b = 3  "), APP)["src/app.py"] == ("100755", b"a = 1\nb = 3  \n")
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / "index").exists()


def test_without_git_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PatchRefused, match="git was not found"):
        GitPatcher().apply(PATCH, (APP,))
