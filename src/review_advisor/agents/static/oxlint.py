"""oxlint: rules for what is broken in JavaScript and TypeScript, and never for style."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from review_advisor.agents.answers import Severity
from review_advisor.agents.static.programs import CheckerError, Complaint, RunChecker, syntax

_PLUGINS = ("eslint", "unicorn", "oxc", "jest")


_RULES = {
    "eslint": "for-direction no-compare-neg-zero no-const-assign no-dupe-class-members"
    " no-dupe-else-if no-dupe-keys no-duplicate-case no-import-assign no-invalid-regexp no-new-native-nonconstructor"
    " no-obj-calls no-this-before-super no-unsafe-negation use-isnan",
    "unicorn": "no-invalid-remove-event-listener",
    "oxc": "bad-array-method-on-arguments bad-char-at-comparison bad-min-max-func bad-object-literal-comparison"
    " missing-throw number-arg-out-of-range uninvoked-array-callback",
    "jest": "no-focused-tests",
}
"""Chosen by what they say of real changes: no-func-assign and no-unsafe-finally speak of compiled files only."""


_CERTAIN_NAMES = (
    "no-const-assign no-import-assign no-invalid-regexp no-new-native-nonconstructor no-obj-calls"
    " no-this-before-super missing-throw"
)


_CERTAIN = frozenset(_CERTAIN_NAMES.split())
"""What throws, or should and does not, whenever the line is reached."""


_CONFIG = "rules.json"


_TEST = re.compile(r"\.(?:test|spec)\.")


_TYPES = (".d.ts", ".d.mts", ".d.cts")


class _Span(BaseModel):
    line: int


class _Label(BaseModel):
    span: _Span


class _Diagnostic(BaseModel):
    filename: str
    message: str
    code: str = ""
    labels: tuple[_Label, ...] = ()


class _Answer(BaseModel):
    diagnostics: tuple[_Diagnostic, ...]


def copy_name(number: int, name: str) -> str:
    """A name with the endings that tell the language, and whether the file is a test or declares types only."""
    ending = next((each for each in _TYPES if name.endswith(each)), Path(name).suffix)
    return f"{number}{'.test' if _TEST.search(name) else ''}{ending}"


def read(folder: Path, copies: Sequence[str], run: RunChecker) -> Iterator[tuple[str, Complaint]]:
    """What oxlint says by our rules alone. Raises ``CheckerError`` or pydantic's ``ValidationError``."""
    chosen = {f"{plugin}/{rule}": "error" for plugin, rules in _RULES.items() for rule in rules.split()}
    config = {"plugins": _PLUGINS, "categories": {"correctness": "off"}, "rules": chosen}
    (folder / _CONFIG).write_text(json.dumps(config))
    code, written = run(
        ["--disable-nested-config", "--no-ignore", f"--config={_CONFIG}", "--format=json", "--", *copies]
    )
    if code not in (0, 1):
        raise CheckerError(f"oxlint ended with {code}")
    for each in _Answer.model_validate_json(written).diagnostics:
        *others, line = (label.span.line for label in each.labels) if each.labels else (1,)
        plugin, _, rule = each.code.removesuffix(")").partition("(")
        if plugin not in _PLUGINS:  # what it cannot parse has no rule, or TypeScript's own number
            yield each.filename, syntax(each.message, line)
        else:
            severity: Severity = "high" if rule in _CERTAIN else "medium"
            yield each.filename, Complaint(rule, each.message, line, line, "bug", severity, 0.85, others=tuple(others))
