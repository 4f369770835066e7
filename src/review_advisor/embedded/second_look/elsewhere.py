"""Files of Python that are not run as they stand. What ruff says of them is neither a finding nor an approval."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.ruff_run import RuffRemark
from review_advisor.embedded.second_look.noise import is_read_by_tests

_PYTHON_2 = re.compile(
    r"^\s*print\s+(?![=(\s])|^\s*print\s*>>|^\s*except\b[^#:]*,\s*\w+\s*:|^\s*raise\s+[\w.\[\]]+\s*,|^\s*exec\s+[\"'\w]|\b0[0-7]+\b"
)
"""A statement that only Python 2 has."""
_OLDER = {
    _PYTHON_2: "it is written for Python 2",
    re.compile(r"\.async\b|\basync\s*[=(,)]|\bimport\s+async\b"): "it is written for a Python before 3.7",
}
_PYTHON_3 = re.compile(
    r"\bf[\"']|\)\s*->|\bawait\s|:=|\bsuper\(\)|^from __future__ import annotations|^(?:<{7}|>{7})\s"
    r"|^[^\S\n]*+(?:async\s+(?:def|for|with)\b|nonlocal\b|def\s(?>.*?\w[^\S\n]*+:[^\S\n]*+\w).*\)\s*:)",
    re.MULTILINE,
)
"""What only Python 3 has, and what git leaves in a file that is in conflict."""
_TEMPLATE = re.compile(r"<%|%>|\{%|\{\{")
_FEWEST_NAMES = 2
"""Whoever runs a file that uses so many unknown names puts them into it."""
_FEWEST_FILES = 2


def not_run_as_they_stand(found: Sequence[RuffRemark], tree: Path) -> Mapping[RuffRemark, str]:
    """The remarks about broken code that say nothing, each with the reason."""
    telling = [remark for remark in found if remark.rule == rules.SYNTAX or remark.name]
    paths = {remark.path for remark in telling}
    lines = {path: (tree / path).read_text(encoding="utf-8", errors="replace").split("\n") for path in paths}
    at_fault: dict[str, list[str]] = {}
    for remark in telling:
        if remark.first <= len(lines[remark.path]):
            at_fault.setdefault(remark.path, []).append(lines[remark.path][remark.first - 1])
    unknown = {(remark.path, remark.name) for remark in found if remark.name}
    names_of = Counter(path for path, _ in unknown)
    files_of = Counter(name for _, name in unknown)
    reasons: dict[RuffRemark, str] = {}
    for remark in found:
        faults = at_fault.get(remark.path, ())
        older = next((why for pattern, why in _OLDER.items() if any(map(pattern.search, faults))), "")
        if older or rules.is_of_python_2(remark.name):
            reasons[remark] = older or _OLDER[_PYTHON_2]
        elif remark.rule == rules.SYNTAX and any(map(_TEMPLATE.search, faults)):
            reasons[remark] = "it is a template"
        elif remark.name and names_of[remark.path] >= _FEWEST_NAMES:
            reasons[remark] = f"it uses {names_of[remark.path]} unknown names"
        elif remark.name and files_of[remark.name] >= _FEWEST_FILES:
            reasons[remark] = f"{remark.name} is unknown in other files, too"
        elif is_read_by_tests(remark.path):
            reasons[remark] = f"tests read it, and it cannot run: {remark.rule} in line {remark.first}"
        elif remark.rule == rules.SYNTAX and _PYTHON_3.search("\n".join(lines[remark.path])) is None:
            reasons[remark] = f"line {remark.first} cannot be parsed, and nothing in it is of Python 3"
    return reasons
