"""What other bots take for a command: no line of a text of ours may begin with it.

They read comments as raw text, line by line, inside fences, quotes and lists as well. Which bots a repository has
is not known here, so every word behind one of their signs counts, and the words that known bots obey without a sign.
"""

from __future__ import annotations

import re

GUTTER = "| "
"""In front of a line that is to be read and not obeyed."""
_MARKS = r"(?:[\s>*+_#~-]|\d{1,9}[.)])*"
"""What stands before the first word of a line in Markdown, and what a bot may pass over."""
_MENTIONED = (
    "all-?contributors", "bors", "claude", "codecov", "coderabbitai", "codex", "copilot", "cursor", "dependabot",
    "gemini-code-assist", "greptileai", "homu", "k8s-ci-robot", "mergify(?:io)?", "openshift-ci", "packit", "renovate",
    "rultor", "rustbot",
)  # fmt: skip
_SPOKEN = (
    "add to (?:allow|white)list", "atlantis", "bors", r"delegate=.*", r"delegate\+", "digger", "homu",
    "i have read the cla", "jenkins", "lgtm", "merge it", "ok to test", "r=.*", "r[+?]", "recheck",
    "retest", "(?:re)?test this", "terrateam", "trigger:",
)  # fmt: skip
_DEPLOYED = ("deploy", "help", "lock", "noop", "unlock", "wcid")
_ORDER = re.compile(
    rf"{_MARKS}(?:"
    r"[/!][a-z][\w:+.-]*(?!\S)"  # a word of its own: no path, no condition
    rf"|@(?:{'|'.join(_MENTIONED)})(?![\w-])"
    r"|@[\w-]+(?:\[bot\])?[,:]?[ \t]+\S"  # somebody is told something: no decorator
    rf"|\.(?:{'|'.join(_DEPLOYED)})(?!\S)"
    rf"|(?:{'|'.join(_SPOKEN)})(?!\w)"
    ")",
    re.IGNORECASE,
)


def gives_order(line: str) -> bool:
    """Whether a line begins with what a bot could obey."""
    return _ORDER.match(line) is not None


def gives_orders(text: str) -> bool:
    """Whether any of its lines does."""
    return any(map(gives_order, text.split("\n")))


def behind_gutter(text: str) -> str:
    """The text with a visible mark in front of each line, if any of them gives an order."""
    if not gives_orders(text):
        return text
    return "\n".join(f"{GUTTER}{line}" for line in text.split("\n"))
