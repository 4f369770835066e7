from collections.abc import Iterable

import pytest

from review_advisor.change.change import FileChange, Status
from review_advisor.change.kinds import (
    CRITICAL_PATHS_ADR,
    DOCS,
    GENERATED,
    LOCKS,
    MEDIA,
    TESTS,
    VENDORED,
    Kind,
    NameRule,
    changed_code_lines,
    kind_of,
    kind_of_path,
)
from review_advisor.mockworld.world import edited, renamed

KINDS = [
    ("src/app.py", Kind.CODE),
    ("docs/install.sh", Kind.CODE),
    ("tests/helper.py", Kind.CODE),
    ("notes.txt", Kind.CODE),
    ("requirements.txt", Kind.CODE),
    ("README.md", Kind.DOCS),
    ("LICENSE", Kind.DOCS),
    ("docs/guide.rst", Kind.DOCS),
    ("tests/test_app.py", Kind.TESTS),
    ("src/app_test.go", Kind.TESTS),
    ("web/button.spec.tsx", Kind.TESTS),
    ("src/ThingTest.java", Kind.TESTS),
    ("conftest.py", Kind.TESTS),
    ("src/auth/__tests__/login.tsx", Kind.TESTS),
    ("pkg/auth/testdata/token.json", Kind.TESTS),
    ("crates/auth/tests/session.rs", Kind.TESTS),
    ("src/test/java/shop/AuthHelper.java", Kind.TESTS),
    ("spec/fixtures/session.rb", Kind.TESTS),
    ("test/mocks/auth.js", Kind.TESTS),
    ("tests/test_apps/cliapp/app.py", Kind.TESTS),
    ("accounts/tests.py", Kind.TESTS),
    ("web/login.test.mjs", Kind.TESTS),
    ("test/auth/login.py", Kind.CODE),
    ("spec/session.rb", Kind.CODE),
    ("fixtures/session.rb", Kind.CODE),
    ("src/contest/latest.py", Kind.CODE),
    ("src/tests/session.py", Kind.CODE),
    ("docs/security.mdx", Kind.DOCS),
    ("docs_src/security/tutorial001.py", Kind.DOCS),
    ("examples/tutorial/flaskr/auth.py", Kind.DOCS),
    ("tutorial/docs/auth.py", Kind.CODE),
    ("examples/auth.py", Kind.CODE),
    ("package-lock.json", Kind.LOCK),
    ("deep/Cargo.lock", Kind.LOCK),
    ("go.sum", Kind.LOCK),
    ("dist/app.min.js", Kind.GENERATED),
    ("api/thing_pb2.py", Kind.GENERATED),
    ("vendor/lib/x.py", Kind.VENDORED),
    ("web/node_modules/x/index.js", Kind.VENDORED),
]


def test_the_kind_of_a_path() -> None:
    assert [(path, kind_of_path(path)) for path, _ in KINDS] == KINDS


def test_only_code_counts_d18() -> None:
    for path in (path for path, kind in KINDS if kind is not Kind.CODE):
        assert changed_code_lines([edited(path, 500), edited("src/app.py", 7)]) == 7, path


def test_removed_lines_count_like_added_ones_d17() -> None:
    assert (
        changed_code_lines(
            [FileChange(Status.DELETED, "a.py", removed=9), FileChange(Status.MODIFIED, "b.py", added=4)]
        )
        == 13
    )


ATTRIBUTES: list[tuple[str, Kind]] = [
    ("generated", Kind.GENERATED),
    ("vendored", Kind.VENDORED),
    ("documentation", Kind.DOCS),
]


def attributed(path: str, attribute: str, *, value: bool) -> FileChange:
    stated = {attribute: value}
    return FileChange(
        Status.MODIFIED,
        path,
        generated=stated.get("generated"),
        vendored=stated.get("vendored"),
        documentation=stated.get("documentation"),
    )


@pytest.mark.parametrize("attribute, kind", ATTRIBUTES)
def test_the_base_trees_attributes_beat_the_name(attribute: str, kind: Kind) -> None:
    assert kind_of(attributed("src/app.py", attribute, value=True)) is kind
    denied = {"generated": "x.min.js", "vendored": "vendor/x.py", "documentation": "x.md"}[attribute]
    assert kind_of(attributed(denied, attribute, value=False)) is Kind.CODE


def test_a_rename_that_is_code_on_either_side_is_code() -> None:
    assert kind_of(renamed("src/app.py", "app.md")) is Kind.CODE
    assert kind_of(renamed("app.md", "src/app.py")) is Kind.CODE
    assert kind_of(renamed("a.md", "test_a.py")) is Kind.TESTS


NAMED_AFTER_THEIR_KIND: dict[Kind, str] = {
    Kind.LOCK: """
        poetry.lock bun.lockb package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum gems.locked gradle.lockfile
        packages.lock.json Package.resolved .terraform.lock.hcl
    """,
    Kind.GENERATED: """
        app.min.js app.min.css app.js.map thing_pb2.py thing_pb2_grpc.py thing.pb.go thing.pb.cc thing.pb.h thing.g.dart
        button.tsx.snap
    """,
    Kind.VENDORED: """
        vendor/x.py node_modules/x.js third_party/x.c thirdparty/x.c bower_components/x.js
    """,
    Kind.DOCS: """
        guide.md guide.mdx guide.markdown guide.rst guide.adoc guide.asciidoc guide.rdoc notes.org paper.tex README
        README.txt LICENSE LICENSE.txt LICENCE COPYING NOTICE AUTHORS CONTRIBUTORS CHANGELOG CHANGES
    """,
    Kind.TESTS: """
        test_app.py app_test.py conftest.py tests.py app_test.go app.test.js app.test.jsx app.test.ts app.test.tsx
        app.test.mjs app.spec.js app.spec.jsx app.spec.ts app.spec.tsx app.cy.ts app_test.ts app_spec.rb app_test.rb
        test_app.rb app_test.exs app_test.dart AppTest.java AppTests.java AppIT.java AppTest.kt AppTest.cs AppTests.cs
        AppTest.php AppTests.swift AppSpec.scala AppTest.scala app_test.cc app_unittest.cc app_test.cpp app_test.rs
        app.bats tests/app.rs t/app.t testdata/app.json __tests__/app.js __mocks__/app.js __fixtures__/app.js
        __snapshots__/app.js src/test/java/App.java src/test/kotlin/App.kt src/test/scala/App.scala
        src/test/resources/app.xml
    """,
}
RULES: dict[Kind, NameRule] = {
    Kind.LOCK: LOCKS,
    Kind.GENERATED: GENERATED,
    Kind.VENDORED: VENDORED,
    Kind.DOCS: DOCS,
    Kind.TESTS: TESTS,
}
MEDIA_EXTENSIONS = """
    apng avif bmp eot flac gif heic heif ico jpeg jpg m4a m4v mkv mov mp3 mp4 oga ogg ogv otf pdf png psd tif tiff ttf
    wav webm webp woff woff2
"""


@pytest.mark.parametrize("kind", list(NAMED_AFTER_THEIR_KIND))
def test_each_name_that_tells_a_kind_tells_it_at_any_depth_and_in_any_case(kind: Kind) -> None:
    names = NAMED_AFTER_THEIR_KIND[kind].split()
    for path in (*names, *(f"src/deep/{name}" for name in names), *map(str.upper, names)):
        assert kind_of_path(path) is kind, path
    assert patterns_without_example(RULES[kind], names) == []


@pytest.mark.parametrize("rule", [*RULES.values(), MEDIA])
def test_a_folder_tells_a_kind_only_where_the_pattern_is_of_a_folder(rule: NameRule) -> None:
    names = [pattern.replace("*", "x").removeprefix("xx/") for pattern in rule.patterns if pattern[-1] != "/"]
    for name in names:
        for folder in (name, name.upper()):
            assert rule.matches(folder)
            assert not rule.matches(f"{folder}/login.c")
            assert not rule.matches(f"src/{folder}/auth/login.c")
            assert kind_of_path(f"src/{folder}/auth.c") in {Kind.CODE, kind_of_path(f"src/{folder}x/auth.c")}


@pytest.mark.parametrize(
    "path",
    [
        "src/notice/auth.py",
        "app/changes/session.py",
        "sites/example.org/auth/login.py",
        "x.lock/auth.go",
        "a.png/auth.py",
    ],
)
def test_a_folder_that_is_named_like_a_document_or_a_lock_hides_no_critical_code(path: str) -> None:
    assert kind_of_path(path) is Kind.CODE
    assert CRITICAL_PATHS_ADR.matches(path)


def test_only_pictures_sounds_films_fonts_and_documents_may_stay_unread() -> None:
    names = [f"x.{extension}" for extension in MEDIA_EXTENSIONS.split()]
    assert [name for name in names if not MEDIA.matches(f"static/{name}")] == []
    assert patterns_without_example(MEDIA, names) == []
    assert [name for name in ("x.exe", "x.so", "x.jar", "x.zip", "x.svg", "png") if MEDIA.matches(name)] == []


def patterns_without_example(rule: NameRule, names: Iterable[str]) -> list[str]:
    return [pattern for pattern in rule.patterns if not any(map(NameRule((pattern,)).matches, names))]
