"""What kind of file a path is: only code counts towards the trigger and the blast radius.

Attributes come from the base tree (``FileChange.generated`` and its sisters). Documentation and tests are recognised by
extension, by name, and by folders that a language keeps for tests. Any other folder counts only together with a telling
name below it: ``tests/fixtures/app.py`` is a test, ``tests/helper.py`` and ``docs/install.sh`` are code.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from review_advisor.core.facts.change import FileChange
from review_advisor.core.facts.files.paths import NameRule, path_words


class Kind(StrEnum):
    """The kinds, in the order in which they are tried."""

    LOCK = "lock"
    GENERATED = "generated"
    VENDORED = "vendored"
    DOCS = "docs"
    TESTS = "tests"
    CODE = "code"


_LOCK_NAMES = (
    "*.lock *.lockb package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum gems.locked gradle.lockfile"
    " packages.lock.json Package.resolved .terraform.lock.hcl"
)
LOCKS = NameRule(tuple(_LOCK_NAMES.split()))
_GENERATED_NAMES = "*.min.js *.min.css *.map *_pb2.py *_pb2_grpc.py *.pb.go *.pb.cc *.pb.h *.g.dart *.snap"
GENERATED = NameRule(tuple(_GENERATED_NAMES.split()))
VENDORED = NameRule(("vendor/", "node_modules/", "third_party/", "thirdparty/", "bower_components/"))
_DOCUMENTS = (
    "*.md *.mdx *.markdown *.rst *.adoc *.asciidoc *.rdoc *.org *.tex README README.txt LICENSE LICENSE.txt"
    " LICENCE COPYING NOTICE AUTHORS CONTRIBUTORS CHANGELOG CHANGES"
)
DOCS = NameRule(tuple(_DOCUMENTS.split()))
_TEST_PLACES = (
    "test_*.py *_test.py conftest.py tests.py *_test.go *.test.*s *.test.*sx *.spec.*s *.spec.*sx *.cy.*s"
    " *_test.ts *_spec.rb *_test.rb test_*.rb *_test.exs *_test.dart *Test.java *Tests.java *IT.java *Test.kt"
    " *Test.cs *Tests.cs *Test.php *Tests.swift *Spec.scala *Test.scala *_test.cc *_unittest.cc *_test.cpp"
    " *_test.rs *.bats **/tests/*.rs **/t/*.t **/testdata/ **/__tests__/ **/__mocks__/ **/__fixtures__/"
    " **/__snapshots__/ **/src/test/java/ **/src/test/kotlin/ **/src/test/scala/ **/src/test/resources/"
)
TESTS = NameRule(tuple(_TEST_PLACES.split()))
"""File names and folders that a language or its test runner keeps for tests."""
_TEST_FOLDERS = frozenset(("test", "tests", "spec", "specs"))
_TEST_WORDS = (
    "test tests spec specs conftest fixture fixtures mock mocks stub stubs fake fakes snapshot snapshots testdata"
    " factories cassettes"
)
_TEST_NAMES = frozenset(_TEST_WORDS.split())
_DOC_FOLDERS = frozenset(("doc", "docs", "documentation", "examples"))
_DOC_WORDS = "tutorial tutorials example examples sample samples snippet snippets"
_DOC_NAMES = frozenset(_DOC_WORDS.split())
_MEDIA_EXTENSIONS = (
    "apng avif bmp eot flac gif heic heif ico jpeg jpg m4a m4v mkv mov mp3 mp4 oga ogg ogv otf pdf png psd tif tiff ttf"
    " wav webm webp woff woff2"
)
MEDIA = NameRule(tuple(f"*.{extension}" for extension in _MEDIA_EXTENSIONS.split()))
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
    if TESTS.matches(path) or _in_folder(path, _TEST_FOLDERS, _TEST_NAMES):
        return Kind.TESTS
    return Kind.DOCS if docs is None and _in_folder(path, _DOC_FOLDERS, _DOC_NAMES) else Kind.CODE


def _in_folder(path: str, folders: frozenset[str], names: frozenset[str]) -> bool:
    """Whether a folder of ``path`` has one of the words of ``folders``, and something below it one of ``names``."""
    parts = [path_words(part) for part in path.split("/")]
    above = next((at for at, words in enumerate(parts[:-1]) if words & folders), len(parts))
    return any(words & names for words in parts[above + 1 :])


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
