"""Who decides in these tests what a Markdown text does: a CommonMark parser, and GitHub's own patterns on its text."""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from review_advisor.agents.findings import FINDING_ID

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

ACTED_ON = {
    "mention": re.compile(r"(?<!\w)@[a-z0-9]|@[\w-]+/[\w-]+", re.IGNORECASE),
    "e-mail": re.compile(r"[\w.+-]+@[\w-]+\.", re.ASCII),
    "issue": re.compile(r"#\d|\bGH-\d", re.IGNORECASE),
    "advisory": re.compile(r"\b(?:GHSA|CVE)-\w", re.IGNORECASE),
    "commit": re.compile(r"(?<![0-9a-z])[0-9a-f]{7,64}(?![0-9a-z])", re.IGNORECASE),
    "address": re.compile(r"://|(?<![a-z0-9])www\.|\bgithub\.com/", re.IGNORECASE),
    "formula": re.compile(r"\$"),
    "slash command": re.compile(r"^\s*/[a-z]", re.IGNORECASE | re.MULTILINE),
    "workflow command": re.compile(r"^\s*::|##\[", re.MULTILINE),
    "invisible": re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]"),
}
"""What GitHub (or a bot) finds in rendered text that is not code, by kind."""

PLAIN = frozenset(
    {"paragraph_open", "paragraph_close", "inline", "text", "softbreak", "hardbreak", "code_inline", "fence"}
    | {f"{what}_{side}" for what in ("bullet_list", "list_item", "strong") for side in ("open", "close")}
)
"""What a text from outside may come out as."""
OURS = (
    PLAIN
    | {
        f"{what}_{side}"
        for what in ("heading", "em", "blockquote", "table", "thead", "tbody", "tr", "th", "td")
        for side in ("open", "close")
    }
    | {"link_close"}
)
"""What we write around it."""
OWN_LINK = re.compile(
    r"/[\w.-]+/[\w.-]+/(?:pull/[1-9]\d*/checks|blob/[0-9a-f]{40}/[\w./%-]+(?:\?plain=1#L\d+(?:-L\d+)?)?)"
    r"|https://github\.example/run/1"
)
OWN_HTML = re.compile(
    rf"<!-- review-advisor:(?:summary|reviewed|finding {FINDING_ID}|review [\w.-]+|state [0-9a-f]{{64}} [\w=-]+) -->\n?"
    r"|<details><summary>[A-Za-z0-9 :,._]+</summary>\n?|</details>\n?|</?sub>"
)


def tokens(markdown: str) -> Iterator[Token]:
    """Every token, inline ones too."""
    for token in PARSER.parse(markdown):
        yield token
        yield from token.children or ()


def offences(markdown: str, allowed: frozenset[str] = PLAIN) -> list[str]:
    """Everything in the text that is more than words."""
    found = []
    for token in tokens(markdown):
        if token.type == "link_open" and allowed is OURS and OWN_LINK.fullmatch(str(token.attrs["href"])):
            continue
        if token.type in ("html_block", "html_inline"):
            if allowed is PLAIN or not OWN_HTML.fullmatch(token.content):
                found.append(f"html: {token.content!r}")
        elif token.type not in allowed:
            found.append(token.type)
        elif token.type == "fence" and token.info not in ("", "suggestion", "diff"):
            found.append(f"fence of {token.info}")
        elif token.type == "inline":
            found += _acted_on("".join(_text(child) for child in token.children or ()))
    return found


def _text(token: Token) -> str:
    """Rendered text; code is one sign that GitHub does not look into."""
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return "`" if token.type == "code_inline" else token.content if token.type == "text" else ""


def _acted_on(text: str) -> list[str]:
    return [f"{kind}: {text!r}" for kind, pattern in ACTED_ON.items() if pattern.search(text)]


def words(markdown: str) -> str:
    """What a person reads of it."""
    read = (
        token.content if token.type in ("text", "code_inline", "fence") else "\n" if token.type == "softbreak" else ""
        for token in tokens(markdown)
    )
    return "".join(read)
