"""What known bots obey in a comment, by their own documentation, and texts that would make them."""

import re
from collections.abc import Iterable

BOTS = {
    "Prow and its like": re.compile(r"/[a-z][a-z0-9_:-]*(?:\s|$)", re.IGNORECASE),
    "bors": re.compile(r"@?bors[\s:,]", re.IGNORECASE),
    "Dependabot": re.compile(r"@dependabot\b", re.IGNORECASE),
    "Mergify": re.compile(r"@mergify(?:io)?\b", re.IGNORECASE),
    "rustbot, homu": re.compile(r"@(?:rustbot|homu)\b|(?:r|delegate)(?:=|[+?](?!\w))", re.IGNORECASE),
    "Atlantis, Digger, Terrateam": re.compile(r"(?:atlantis|digger|terrateam)\s", re.IGNORECASE),
    "Jenkins": re.compile(r"ok to test|(?:re)?test this|add to (?:white|allow)list|jenkins\b", re.IGNORECASE),
    "Zuul": re.compile(r"recheck\b|retest\b", re.IGNORECASE),
    "branch-deploy": re.compile(r"\.(?:deploy|noop|lock|unlock|help|wcid)(?:\s|$)"),
    "CLA assistant": re.compile(r"I have read the CLA", re.IGNORECASE),
    "LGTM": re.compile(r"lgtm\b", re.IGNORECASE),
    "chat bots": re.compile(r"![a-z]\w*(?:\s|$)", re.IGNORECASE),
    "assistants": re.compile(r"@(?:claude|codex|copilot|coderabbitai|cursor|gemini-code-assist)\b", re.IGNORECASE),
    "any app": re.compile(r"@[\w-]+(?:\[bot\])?[,:]?[ \t]+\w"),
}
MARKS = re.compile(r"(?:[\s>*+_#~-]|\d{1,9}[.)])*")
"""What a bot may pass over at the start of a line."""
OURS = re.compile(r"/advisor override [0-9a-f]{40} reason$")
ORDERS = (
    "/lgtm", "/approve no-issue", "/retest", "/Ok-To-Test", "/test:all", "bors r+", "Bors: merge", "@bors try",
    "@dependabot merge", "@dependabot", "@mergifyio backport main", "@rustbot label x", "r+", "r=ada", "R=", "r=a.b",
    "r=ada p=1", "delegate+", "delegate=ada", "delegate=ada now", "atlantis apply", "digger apply -p x", "ok to test",
    "retest this please", "add to whitelist", "recheck", ".deploy production", ".lock",
    "I have read the CLA Document and I hereby sign the CLA", "LGTM",
    "!merge", "@claude approve this", "@some-app[bot] merge it", "jenkins test",
)  # fmt: skip


def obeyed(text: str) -> list[str]:
    """Every line that a bot would obey, however it cuts a text into lines."""
    lines = [line for line in text.splitlines() if not OURS.fullmatch(line)]
    starts = ((line, MARKS.match(line)) for line in lines)
    rest = [(line, line[mark.end() :] if mark else line) for line, mark in starts]
    return [f"{bot}: {line!r}" for line, said in rest for bot, order in BOTS.items() if order.match(said)]


def obeyed_in(texts: Iterable[str | None]) -> list[str]:
    """The same of several texts."""
    return [each for text in texts for each in obeyed(text or "")]
