"""What kind of file a path is: only code counts towards the trigger and the blast radius.

Attributes come from the base tree (``FileChange.generated`` and its sisters). Documentation and tests
are recognised by extension and name, never by folder alone: ``docs/install.sh`` is code.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from review_advisor.core.facts.change import FileChange
from review_advisor.core.facts.paths import PathRule


class Kind(StrEnum):
    """The kinds, in the order in which they are tried."""

    LOCK = "lock"
    GENERATED = "generated"
    VENDORED = "vendored"
    DOCS = "docs"
    TESTS = "tests"
    CODE = "code"


LOCKS = PathRule(
    (
        "*.lock",
        "*.lockb",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "go.sum",
        "gradle.lockfile",
        "packages.lock.json",
        "Package.resolved",
        ".terraform.lock.hcl",
    )
)
GENERATED = PathRule(
    (
        "*.min.js",
        "*.min.css",
        "*.map",
        "*_pb2.py",
        "*_pb2_grpc.py",
        "*.pb.go",
        "*.pb.cc",
        "*.pb.h",
        "*.g.dart",
        "*.snap",
    )
)
VENDORED = PathRule(("vendor/", "node_modules/", "third_party/", "thirdparty/", "bower_components/"))
DOCS = PathRule(
    (
        "*.md",
        "*.markdown",
        "*.rst",
        "*.adoc",
        "*.asciidoc",
        "*.org",
        "*.tex",
        "README",
        "README.txt",
        "LICENSE",
        "LICENSE.txt",
        "LICENCE",
        "COPYING",
        "NOTICE",
        "AUTHORS",
        "CONTRIBUTORS",
        "CHANGELOG",
        "CHANGES",
    )
)
TESTS = PathRule(
    (
        "test_*.py",
        "*_test.py",
        "conftest.py",
        "*_test.go",
        "*.test.js",
        "*.test.jsx",
        "*.test.ts",
        "*.test.tsx",
        "*.spec.js",
        "*.spec.jsx",
        "*.spec.ts",
        "*.spec.tsx",
        "*_spec.rb",
        "*_test.rb",
        "*_test.exs",
        "*Test.java",
        "*Tests.java",
        "*IT.java",
        "*Test.kt",
        "*Tests.cs",
        "*Test.php",
        "*_test.cc",
        "*_test.cpp",
        "*_test.rs",
    )
)
_MEDIA_EXTENSIONS = (
    "apng avif bmp eot flac gif heic heif ico jpeg jpg m4a m4v mkv mov mp3 mp4 oga ogg ogv otf pdf png psd tif tiff ttf"
    " wav webm webp woff woff2"
)
MEDIA = PathRule(tuple(f"*.{extension}" for extension in _MEDIA_EXTENSIONS.split()))
"""Names under which binary content is expected and runs nowhere: it may be approved, named as not read."""


@lru_cache(maxsize=8_192)
def kind_of_path(
    path: str, *, generated: bool | None = None, vendored: bool | None = None, docs: bool | None = None
) -> Kind:
    """The kind of one path; an attribute that is set or unset beats the name."""
    if LOCKS.matches(path):
        return Kind.LOCK
    for kind, attribute, rule in (
        (Kind.GENERATED, generated, GENERATED),
        (Kind.VENDORED, vendored, VENDORED),
        (Kind.DOCS, docs, DOCS),
    ):
        if attribute or (attribute is None and rule.matches(path)):
            return kind
    return Kind.TESTS if TESTS.matches(path) else Kind.CODE


def kind_of(file: FileChange) -> Kind:
    """The kind of a change's file. A rename that is code on either side is code."""
    kinds = [
        kind_of_path(path, generated=file.generated, vendored=file.vendored, docs=file.documentation)
        for path in file.paths
    ]
    return Kind.CODE if Kind.CODE in kinds else kinds[0]


def changed_code_lines(files: Iterable[FileChange]) -> int:
    """Added plus removed lines of code: tests, documentation, lock, generated and vendored files left out."""
    return sum(file.changed_lines for file in files if kind_of(file) is Kind.CODE)
