"""What a changed file is: its kind, its language, and which path rules match it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Annotated

from pathspec import GitIgnoreSpec
from pydantic import AfterValidator

from review_advisor.change.change import FileChange, Status

_OWN_ANYWHERE = (
    ".review-advisor.toml .review-advisor .claude .mcp.json CLAUDE.md REVIEW.md /src/review_advisor.py"
    " /src/review_phase.py"
)

OWN_IMPLEMENTATION_ANYWHERE: tuple[str, ...] = tuple(_OWN_ANYWHERE.split())
"""The bot in any repository: config, advisors, agents, prompts, rules, the ADR's two files. See ``workflows``."""

_OWN_HERE = "/src/review_advisor /action.yml /Makefile /pyproject.toml /requirements /tools /.ci"

OWN_IMPLEMENTATION_HERE: tuple[str, ...] = tuple(_OWN_HERE.split())
"""What is added to it in the bot's own repository: the package, its build, its pins."""

OWN_PIPELINE = "src/review_advisor/review/phase.py"
"""A repository that holds this file, on either side, is the bot's own."""

OWN_NAME = "review-advisor"
PYPROJECT = "pyproject.toml"


def may_configure(pyproject: bytes | None) -> bool:
    """Whether a ``pyproject.toml`` of this content may configure the bot; None where there is none."""
    return OWN_NAME.encode() in (pyproject or b"")


LOOKED_UP_TOGETHER: tuple[str, ...] = (".review-advisor.toml", PYPROJECT, OWN_PIPELINE)
"""Every review looks for these in the trees that it compares."""

_TELLS_WHAT_TO_DO = (
    ".github .gitea .forgejo .gitlab .gitlab-ci*.y*ml .circleci Jenkinsfile* *.Jenkinsfile .travis.y*ml"
    " azure-pipelines*.y*ml .azure-pipelines .azuredevops bitbucket-pipelines.y*ml .drone.* .buildkite .woodpecker"
    " .woodpecker.y*ml appveyor.y*ml .appveyor.y*ml .cirrus.* .semaphore .teamcity .tekton .builds .build.y*ml"
    " buildspec*.y*ml cloudbuild*.y*ml action.yml action.yaml CODEOWNERS .gitattributes .gitmodules .gitignore"
    " .gitconfig .lfsconfig .husky .pre-commit-config.yaml .vscode .idea .devcontainer .envrc .npmrc .pypirc"
    " AGENTS.md GEMINI.md CLAUDE.local.md .cursor .cursorrules .windsurf .windsurfrules .clinerules .gemini .codex"
    " .agents"
)

NEVER_REPAIRED: tuple[str, ...] = tuple(_TELLS_WHAT_TO_DO.split())
"""What no repair may touch, next to the bot's own implementation: it tells CI, git, editors or agents what to do."""


def literal(path: str) -> str:
    """A pattern that matches ``path`` and nothing else, whatever glob characters it holds."""
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)


def globs_of(patterns: Iterable[str]) -> GitIgnoreSpec:
    """The patterns, each to be compared with paths as git compares it; ``ValueError`` or ``re.error`` if one cannot be.

    Signs such as ``[`` in a class are what they are: Python warns that its own expressions may read them otherwise.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return GitIgnoreSpec.from_lines(patterns)


def is_readable_glob(pattern: str) -> bool:
    """Whether a pattern can be compared with paths, as it is and in small letters. A blank one or a comment can."""
    try:
        globs_of([pattern, pattern.casefold()])
    except (ValueError, re.error):
        return False
    return True


def _readable(glob: str) -> str:
    if not is_readable_glob(glob):
        raise ValueError("it is not a glob")
    return glob


Glob = Annotated[str, AfterValidator(_readable)]
"""A glob of a configuration."""


def is_glob(pattern: str) -> bool:
    """Whether a pattern can match a path at all, or take one out again."""
    return is_readable_glob(pattern) and any(each.include is not None for each in globs_of([pattern]).patterns)


_PLAIN = re.compile(r"\*?[a-z0-9_.-]*[a-z0-9][a-z0-9_.-]*")
"""A pattern that names a file or folder at any depth, whole or by its end."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=1_024)
def path_words(part: str) -> frozenset[str]:
    """The words of one part of a path, in small letters: of ``AuthToken_v2.py`` they are auth, token, v and py."""
    return frozenset(map(str.casefold, _WORD.findall(part)))


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return globs_of(p.casefold() for p in patterns)


@lru_cache(maxsize=64)
def _by_form(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """Whole names, ends of names, and the patterns that take more than a comparison: all of them if one takes out."""
    if any(pattern.startswith("!") for pattern in patterns):
        return frozenset(), (), patterns
    plain = [pattern for pattern in map(str.casefold, patterns) if _PLAIN.fullmatch(pattern)]
    ends = tuple(pattern[1:] for pattern in plain if pattern.startswith("*"))
    others = tuple(pattern for pattern in patterns if not _PLAIN.fullmatch(pattern.casefold()))
    return frozenset(pattern for pattern in plain if not pattern.startswith("*")), ends, others


@lru_cache(maxsize=1_024)
def _covered(patterns: tuple[str, ...], path: str) -> bool:
    names, ends, others = _by_form(patterns)
    parts = path.split("/")
    if not names.isdisjoint(parts) or any(part.endswith(ends) for part in parts):
        return True
    return bool(others) and _compiled(others).match_file(path)


def touched_paths(files: Iterable[FileChange], matches: Callable[[str], bool]) -> tuple[str, ...]:
    """The paths for which ``matches`` holds among both sides of every file, in order, each once.

    A symlink or a submodule that takes the place of such a folder counts as that folder.
    """
    hits: dict[str, None] = {}
    for file in files:
        as_folder = file.is_symlink or file.is_submodule
        hits.update((path, None) for path in file.paths if matches(path) or (as_folder and matches(f"{path}/x")))
    return tuple(hits)


@dataclass(frozen=True, slots=True)
class PathRule:
    """A list of globs. A pattern without a slash matches at any depth; a folder matches all below it."""

    patterns: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Whether ``path`` (forward slashes, relative) is covered, in any case."""
        return _covered(self.patterns, path.casefold())

    def touched_by(self, files: Iterable[FileChange]) -> tuple[str, ...]:
        """The covered paths of these files (see ``touched_paths``)."""
        return touched_paths(files, self.matches)


@lru_cache(maxsize=64)
def _by_depth(patterns: tuple[str, ...]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    names = [pattern for pattern in patterns if not pattern.endswith("/")]
    depths = {pattern: pattern.removeprefix("**/").count("/") + 1 for pattern in names}
    return tuple((depth, tuple(p for p in names if depths[p] == depth)) for depth in sorted(set(depths.values())))


@lru_cache(maxsize=64)
def _folders(patterns: tuple[str, ...]) -> PathRule:
    return PathRule(tuple(pattern for pattern in patterns if pattern.endswith("/")))


@dataclass(frozen=True, slots=True)
class NameRule:
    """A list of globs of file names at any depth. Only a pattern that ends in a slash matches a folder."""

    patterns: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Whether the name of ``path``, or a folder of it that a pattern names as one, is covered, in any case."""
        if _folders(self.patterns).matches(path):
            return True
        parts = path.split("/")
        names = _by_depth(self.patterns)
        # The whole pattern has to match the tail, so that its last part cannot match a folder.
        return any(PathRule(globs).matches("/".join(parts[-depth:])) for depth, globs in names if len(parts) >= depth)


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
    above = next((at for at, part in enumerate(parts[:-1]) if part & folders), len(parts))
    return any(part & names for part in parts[above + 1 :])


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


_BY_SUFFIX: dict[str, str] = {
    suffix: language
    for language, suffixes in {
        "C": ".c .h",
        "C#": ".cs",
        "C++": ".cc .cpp .cxx .hh .hpp .hxx",
        "CSS": ".css .less .sass .scss",
        "Clojure": ".clj .cljs",
        "Dart": ".dart",
        "Elixir": ".ex .exs",
        "Erlang": ".erl",
        "Go": ".go",
        "Groovy": ".groovy .gradle",
        "HTML": ".htm .html",
        "Haskell": ".hs",
        "Java": ".java",
        "JavaScript": ".cjs .js .jsx .mjs",
        "Julia": ".jl",
        "Kotlin": ".kt .kts",
        "Lua": ".lua",
        "Objective-C": ".m .mm",
        "PHP": ".php",
        "Perl": ".pl .pm",
        "PowerShell": ".ps1 .psm1",
        "Python": ".py .pyi",
        "R": ".r",
        "Ruby": ".rake .rb",
        "Rust": ".rs",
        "SQL": ".sql",
        "Scala": ".scala",
        "Shell": ".bash .sh",
        "Svelte": ".svelte",
        "Swift": ".swift",
        "Terraform": ".tf",
        "TypeScript": ".cts .mts .ts .tsx",
        "Vue": ".vue",
        "Zig": ".zig",
    }.items()
    for suffix in suffixes.split()
}

_BY_NAME = {
    "containerfile": "Dockerfile",
    "dockerfile": "Dockerfile",
    "gemfile": "Ruby",
    "jenkinsfile": "Groovy",
    "makefile": "Make",
    "rakefile": "Ruby",
}

_WORKFLOWS = ".github/workflows/"

_DATA = re.compile(
    r"\.(?:cfg|conf|crt|csr|csv|env|ini|json|json5|jsonc|jsonl|key|lock|log|mo|ndjson|pem|plist|po|pot|properties|pub"
    r"|svg|toml|tsv|txt|typed|xml|ya?ml)"
)
"""Files that hold values. Nobody expects a rule for bugs to read them."""

OTHER = "files of an unknown kind"


def language_of(path: str) -> str | None:
    """The language of a path; None for data. A name that says nothing counts as code: it may be a program."""
    place = PurePosixPath(path)
    suffix = place.suffix.lower()
    if suffix in {".yml", ".yaml"} and path.startswith(_WORKFLOWS):
        return "GitHub Actions"
    if _DATA.fullmatch(suffix) or (not suffix and place.name.startswith(".")):
        return None
    named = _BY_NAME.get(place.name.lower()) or _BY_NAME.get(place.name.lower().partition(".")[0])
    return _BY_SUFFIX.get(suffix) or named or (f"*{place.suffix}" if suffix else OTHER)


def unread_code(files: Iterable[FileChange], read: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Each changed file of code in a language outside ``read``, with the language. Deleted files leave no code."""
    found = []
    for file in files:
        language = language_of(file.path)
        is_code = kind_of(file) in (Kind.CODE, Kind.TESTS) and not file.binary and file.status is not Status.DELETED
        if is_code and file.changed_lines and language is not None and language not in read:
            found.append((file.path, language))
    return tuple(found)


_NEVER_BY_NAME = (Kind.DOCS, Kind.TESTS)


@dataclass(frozen=True, slots=True)
class CriticalPaths:
    """Globs, which always hold, and the product's own names, which never mean documentation, tests or media.

    ``words``, and their plurals, are compared with the whole words of each part of a path: ``auth`` is in
    ``user_auth.py``, not in ``author.py``.
    """

    globs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def matches(self, path: str) -> bool:
        """Whether ``path`` is critical."""
        if PathRule(self.globs).matches(path):
            return True
        wanted = frozenset((*self.words, *(f"{word}s" for word in self.words)))
        named = any(path_words(part) & wanted for part in path.split("/")) or PathRule(self.names).matches(path)
        return named and kind_of_path(path) not in _NEVER_BY_NAME and not MEDIA.matches(path)

    def because(self, path: str) -> tuple[str, ...]:
        """The globs, names and words by which ``path`` is critical; none if it is not."""
        if not self.matches(path):
            return ()
        globs = [each for each in (*self.globs, *self.names) if PathRule((each,)).matches(path)]
        inside = {word for part in path.split("/") for word in path_words(part)}
        return (*globs, *(word for word in self.words if inside & {word, f"{word}s"}))

    def touched_by(self, files: Iterable[FileChange]) -> tuple[str, ...]:
        """The critical paths of these files (see ``touched_paths``)."""
        return touched_paths(files, self.matches)


_WORDS = (
    "auth authn authz authentication authorization oauth oidc saml sso jwt login session token password permission"
    " security crypto secret credential csrf payment billing"
)

_PLACES = (
    ".gitlab-ci.yml Jenkinsfile Dockerfile* docker-compose*.y*ml *.tf *.tfvars **/migrations/ **/db/migrate/"
    " **/infra/ **/terraform/ **/k8s/ **/helm/ **/deploy/ CODEOWNERS .gitattributes .gitmodules"
)

CRITICAL_PATHS_ADR = CriticalPaths(
    names=tuple(_PLACES.split()),
    words=tuple(_WORDS.split()),
)
"""What is critical in any repository, unless the configuration says otherwise."""

_OF_HYDRAFLOW = (
    "/src/orchestrator.py /src/service_registry.py /src/coordinator.py /src/review_phase.py"
    " /src/review_advisor.py /src/persistence/ /src/state/ /src/*_loop.py"
)

CRITICAL_PATHS_HYDRAFLOW = CriticalPaths(globs=tuple(_OF_HYDRAFLOW.split()))
"""ADR-0059's own list (profile ``hydraflow``)."""

DECLARED = ".review-advisor"
"""The folder of everything that a repository declares for the bot beside its configuration."""

ADVISORS = f"{DECLARED}/advisors"

OPTIONAL = f"{ADVISORS}/optional"
"""Advisors that a label of a pull request may add."""

LENS_MAP = f"{DECLARED}/lenses.toml"
"""The repository's own map from paths to lenses and advisors."""

PRICES = f"{DECLARED}/prices.toml"
"""The repository's own prices of models."""

LONGEST_FILE = 32_000
"""Characters of one declaration file. A longer one is refused, not cut: half of it says something else."""

MOST_DECLARED = 60
"""Files that are read."""

TOO_MANY = f"more than {MOST_DECLARED} files lie there"
"""The problem of every further one."""


def is_declared(path: str) -> bool:
    """Whether the file at ``path`` declares advisors, maps paths to them or lists prices, or stands for their folder.

    A file or folder whose name differs in its case alone is looked at, so that its owner hears that nobody reads it.
    """
    small = path.casefold()
    return small in (DECLARED, ADVISORS, OPTIONAL, LENS_MAP, PRICES) or small.startswith((f"{ADVISORS}/", f"{PRICES}/"))


def stands_for_prices(path: str) -> bool:
    """Whether somebody may take what is at ``path`` for the list of prices, and nobody reads it."""
    small = path.casefold()
    return path != PRICES and (small == PRICES or small.startswith(f"{PRICES}/"))
