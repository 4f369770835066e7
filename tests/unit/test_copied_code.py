"""CopiedCode of other projects in a repository: the static rules leave them to whoever makes them, and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from review_advisor.core.answers.answers import ReviewReport
from review_advisor.core.facts.change import FileChange, Hunk, Status
from review_advisor.core.facts.patches.diff_text import changed_lines, render_files
from review_advisor.embedded.checkers import StaticChecks
from review_advisor.embedded.executor import report
from review_advisor.embedded.material import Material
from review_advisor.embedded.second_look.copied import CopiedCode

BROKEN = "def run():\n    return missing\n"
MILD = "def run(left):\n    left == 1\n"
LOST = "import subprocess\n\nsubprocess.run(['ls', '-l'], shell=True)\n"
MIT = "Permission is hereby granted. The above copyright notice and this permission notice shall be included.\n"
OURS = {"LICENSE": f"MIT License\n\nCopyright (c) 2020 Ada Baker\n\n{MIT}", "setup.py": "name='bakery'\n"}
THEIRS = f"Copyright 2011-2014 by Carl Duke <carl@duke.example>\n\n{MIT}"
RELEASED = "# Copyright (C) 2011 the Pastry authors and contributors\n\n__version__ = '0.9.4'\n"


def tree_of(folder: Path, texts: dict[str, str]) -> Path:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def answered(tree: Path, path: str, text: str, *, allow_unchecked: bool = False) -> ReviewReport:
    """The report on a change that adds the file at ``path``."""
    tree_of(tree, {path: text})
    lines = tuple("+" + line for line in text.rstrip("\n").split("\n"))
    hunk = Hunk(0, 0, 1, len(lines), "", lines)
    change = FileChange(Status.ADDED, path, old_mode="000000", added=len(lines), hunks=(hunk,))
    shown = tuple(changed_lines(render_files([change])))
    return report(Material(lines=shown), StaticChecks(shown, tree), "", None, allow_unchecked=allow_unchecked)


COPIES: dict[str, tuple[str, dict[str, str], str]] = {
    "a folder called so": ("app/_vendor/pastry/a.py", {}, "app/_vendor/"),
    "a licence of other people": ("app/pastry/a.py", {"app/pastry/LICENSE.txt": THEIRS}, "app/pastry/LICENSE.txt"),
    "the same above it": ("app/pastry/deep/a.py", {"app/pastry/COPYING": THEIRS}, "app/pastry/COPYING"),
    "what an installer left": (
        "lib/pastry/a.py",
        {"lib/pastry-0.9.dist-info/METADATA": "Name: pastry\n"},
        "lib/pastry-0.9.dist-info",
    ),
    "an unpacked release": ("contrib/pastry/a.py", {"contrib/pastry/PKG-INFO": ""}, "contrib/pastry/PKG-INFO"),
    "a list of copies": ("app/parts/pastry/a.py", {"app/parts/vendor.txt": "pastry==0.9"}, "app/parts/vendor.txt"),
    "a release of other people": (
        "lib/pastry/a.py",
        {"lib/pastry/__init__.py": RELEASED},
        "lib/pastry/__init__.py",
    ),
}


@pytest.mark.parametrize("case", COPIES)
def test_what_is_serious_in_a_copy_is_told_as_not_checked(tmp_path: Path, case: str) -> None:
    path, beside, evidence = COPIES[case]
    told = answered(tree_of(tmp_path, OURS | beside), path, BROKEN)
    assert told.findings == ()
    why = f"it is copied code of another project ({evidence})"
    assert [(one.path, one.why, one.waived) for one in told.unchecked] == [(path, why, False)]
    assert f"Not checked: {path}." in told.summary


def test_what_is_mild_in_a_copy_is_counted_and_named(tmp_path: Path) -> None:
    told = answered(tree_of(tmp_path, OURS | {"app/pastry/LICENSE": THEIRS}), "app/pastry/a.py", MILD)
    assert (told.verdict, told.findings) == ("approve", ())
    assert "Not reported, because it is copied code of another project (app/pastry/LICENSE): 1 (B015 at" in told.summary
    assert " app/pastry/a.py:2)." in told.summary


def test_no_evidence_of_a_copy_hides_a_danger_or_a_secret(tmp_path: Path) -> None:
    told = answered(tree_of(tmp_path, OURS | {"app/pastry/LICENSE": THEIRS}), "app/pastry/a.py", LOST)
    assert (told.verdict, [one.category for one in told.findings]) == ("reject", ["security/S602"])
    key = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 4 + "-----END PRIVATE KEY-----\n"
    told = answered(tmp_path, "app/pastry/key.pem", key)
    assert (told.verdict, [one.category for one in told.findings]) == ("reject", ["secret/private key"])


OWN: dict[str, tuple[str, dict[str, str]]] = {
    "nothing beside it": ("app/pastry/a.py", {}),
    "our own licence again": ("app/pastry/a.py", {"app/pastry/LICENSE": OURS["LICENSE"]}),
    "a licence that names nobody": ("app/pastry/a.py", {"app/pastry/LICENSE": MIT}),
    "the package of this repository": ("pastry/a.py", {"pastry/__init__.py": RELEASED}),
    "the same below src": ("src/pastry/a.py", {"src/pastry/__init__.py": RELEASED}),
    "a part with a version of ours": (
        "app/pastry/a.py",
        {"app/pastry/__init__.py": "__author__ = 'Ada Baker'\n__version__ = '1.0'\n"},
    ),
    "what an installer leaves of ours": ("app/a.py", {"app/bakery.egg-info/PKG-INFO": "Name: bakery\n"}),
}


@pytest.mark.parametrize("case", OWN)
def test_what_may_be_the_projects_own_is_checked(tmp_path: Path, case: str) -> None:
    path, beside = OWN[case]
    told = answered(tree_of(tmp_path, OURS | beside), path, BROKEN)
    assert [one.category for one in told.findings] == ["bug/F821"]
    assert told.unchecked == ()


def test_where_nobody_says_whose_a_repository_is_no_owner_is_another(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, {"app/pastry/LICENSE": THEIRS, "app/pastry/__init__.py": RELEASED})
    assert CopiedCode(tree).why("app/pastry/a.py") == ""


def test_a_folder_of_packages_of_three_versions_holds_copies(tmp_path: Path) -> None:
    packages = {f"lib/p{at}/__init__.py": RELEASED.replace("0.9", f"{at}.0") for at in range(3)}
    assert CopiedCode(tree_of(tmp_path, packages)).why("lib/p0/deep/a.py") != ""
    own = tree_of(tmp_path / "other", packages | {"lib/setup.py": "name='bakery'\n"})
    assert CopiedCode(own).why("lib/p0/deep/a.py") == ""


def test_a_released_file_says_so_in_its_first_lines(tmp_path: Path) -> None:
    banner = "/*!\n * Pastry v3.4.0\n * Copyright 2011 Carl Duke\n */\n"
    tree = tree_of(tmp_path, {"static/pastry.js": banner, "static/app.js": "// needs Pastry 3.4.0\n"})
    assert CopiedCode(tree).why("static/pastry.js") == "it is copied code of another project (static/pastry.js)"
    assert CopiedCode(tree).why("static/app.js") == ""


def test_no_link_is_followed_for_evidence(tmp_path: Path) -> None:
    outside = tree_of(tmp_path / "outside", {"LICENSE": THEIRS})
    tree = tree_of(tmp_path / "tree", OURS | {"app/a.py": BROKEN})
    (tree / "app" / "LICENSE").symlink_to(outside / "LICENSE")
    assert CopiedCode(tree).why("app/a.py") == ""


@pytest.mark.parametrize(
    "path, beside, text",
    [
        ("app/a.py", {"app/vendor.txt": "\n"}, BROKEN),
        ("app/a.py", {}, f"# a 1.0.0 (c)\n{BROKEN}"),
        ("external/a.py", {}, BROKEN),
        ("tests/data/a.py", {}, "def f(:\n"),
        ("b.py", {}, "text = unicode\n"),
    ],
)
def test_leave_for_what_no_rule_reads_lets_nothing_pass_that_a_rule_has_read(
    tmp_path: Path, path: str, beside: dict[str, str], text: str
) -> None:
    told = answered(tree_of(tmp_path, OURS | beside), path, text, allow_unchecked=True)
    assert told.verdict == "reject" or [one.waived for one in told.unchecked] == [False]


def test_a_notice_of_many_signs_is_read_at_once(tmp_path: Path) -> None:
    """Each sign could be taken in two ways: this one would not end."""
    tree = tree_of(tmp_path, OURS | {"app/LICENSE": f"copyright 2020{'-  ' * 40}!"})
    assert CopiedCode(tree).why("app/a.py") == ""
