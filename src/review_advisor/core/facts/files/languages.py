"""The language of a changed file by its name, so that a review can say which code no rule reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from review_advisor.core.facts.change import FileChange, Status
from review_advisor.core.facts.files.kinds import Kind, kind_of

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
