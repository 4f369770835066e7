"""A golden case as a TOML file that a person can read, and that ``read_case`` reads back to an equal case."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.core.evaluation.golden.golden_case import (
    CommitsChange,
    FilesChange,
    GoldenCase,
    GoldenChange,
    GoldenFile,
    GoldenLabel,
    NamedChange,
    PatchChange,
)

_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def case_text(case: GoldenCase) -> str:
    """The TOML of a case, without its id: that is the path of its file."""
    return "\n".join(_lines(case)) + "\n"


def _lines(case: GoldenCase) -> Iterator[str]:
    yield f"kind = {_text(case.kind)}"
    if case.group != case.id:
        yield f"group = {_text(case.group)}"
    for name, text in (("language", case.language), ("title", case.title), ("body", case.body), ("spec", case.spec)):
        if text:
            yield f"{name} = {_text(text)}"
    if case.exhaustive:
        yield "exhaustive = true"
    if case.canaries:
        yield f"canaries = [{', '.join(map(_text, case.canaries))}]"
    yield from _change(case.change)
    for label in case.labels:
        yield from _label("labels", label)
    for label in case.refuted:
        yield from _label("refuted", label)


def _change(change: GoldenChange) -> Iterator[str]:
    match change:
        case FilesChange(files):
            yield from (line for file in files for line in _file(file))
        case PatchChange(patch, files):
            yield f"patch = {_text(patch)}"
            yield from (line for file in files for line in _file(file))
        case CommitsChange(repository, base, head):
            yield f"repository = {_text(repository)}"
            yield f"base = {_text(base)}"
            yield f"head = {_text(head)}"
        case NamedChange(url):
            yield f"url = {_text(url)}"


def _file(file: GoldenFile) -> Iterator[str]:
    yield ""
    yield "[[files]]"
    yield f"path = {_text(file.path)}"
    if file.before is not None:
        yield f"before = {_text(file.before)}"
    if file.after is not None:
        yield f"after = {_text(file.after)}"


def _label(table: str, label: GoldenLabel) -> Iterator[str]:
    yield ""
    yield f"[[{table}]]"
    if label.file:
        yield f"file = {_text(label.file)}"
    if label.first_line:
        yield f"first_line = {label.first_line}"
    if label.last_line > label.first_line:
        yield f"last_line = {label.last_line}"
    if label.severity:
        yield f"severity = {_text(label.severity)}"
    if label.category:
        yield f"category = {_text(label.category)}"
    if label.unchanged:
        yield "unchanged = true"
    yield f"text = {_text(label.text)}"


def _text(text: str) -> str:
    """A text of several lines as it is where TOML can say it so; any other in quotes, with what is invisible named."""
    plain = all(sign in "\n\t" or sign.isprintable() for sign in text)
    if "\n" in text and plain and "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"
    signs = "".join(each if each == "\n" and "\n" in text[:-1] else _sign(each) for each in text)
    return f'"""\n{signs}"""' if "\n" in text[:-1] else f'"{signs}"'


def _sign(sign: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    if sign.isprintable():
        return sign
    return f"\\U{ord(sign):08X}"
