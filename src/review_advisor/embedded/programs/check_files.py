"""What the programs say of some files: of copies under names of ours, in which no comment silences anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from review_advisor.core.facts.checker_settings import CHECKERS
from review_advisor.core.facts.files.languages import language_of
from review_advisor.embedded.programs import oxlint, shellcheck, zizmor
from review_advisor.embedded.programs.bounded_run import TIMEOUT, CheckerError, RunChecker, bounded_run
from review_advisor.embedded.programs.complaint import CannotRead, Complaint

_MOST_BYTES = 2_000_000
_BUNDLED = b"__webpack_require__"
"""A bundler wrote the file: what is mild there is counted, and not reported."""
_BATCH = 200
_SILENCERS = re.compile(rb"(?:eslint|oxlint)-(?:disable|enable)|eslint-env|zizmor:\s*ignore", re.IGNORECASE)
_SHELLCHECK = re.compile(rb"(#[^\n]*?)(shellcheck|(?=\n|\Z))", re.IGNORECASE)
"""ShellCheck takes spaces of Unicode, too, so what stands between counts for nothing."""


@dataclass(frozen=True, slots=True)
class ProgramRemark:
    """One remark of a program about lines of a file. ``silenced``: a comment in the file says not to report it."""

    path: str
    program: str
    said: Complaint
    silenced: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What the programs said, and the files that they did not read, with the reason."""

    remarks: tuple[ProgramRemark, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)


_Read = Callable[[Path, Sequence[str], RunChecker], Iterator[tuple[str, Complaint]]]
_TOOLS: Mapping[str, tuple[Callable[[int, str], str], _Read]] = {
    "oxlint": (oxlint.copy_name, oxlint.read),
    "shellcheck": (shellcheck.copy_name, shellcheck.read),
    "zizmor": (zizmor.copy_name, zizmor.read),
}


def check(programs: Mapping[str, str], files: Mapping[str, Path]) -> Checked:
    """Run each of ``programs`` (paths by names) on the files of its languages. ``files``: by their shown names."""
    remarks: list[ProgramRemark] = []
    unread: dict[str, str] = {}
    for program in CHECKERS:
        own = {path: file for path, file in files.items() if language_of(path) in program.languages}
        if not own or program.name not in programs:
            continue
        texts: dict[str, bytes] = {}
        for path, file in own.items():
            if file.stat().st_size > _MOST_BYTES:
                unread[path] = f"it has more than {_MOST_BYTES:,} bytes"
            else:
                texts[path] = file.read_bytes()
        paths = list(texts)
        for start in range(0, len(paths), _BATCH):
            batch = {path: texts[path] for path in paths[start : start + _BATCH]}
            checked = _checked(program.name, programs[program.name], batch, TIMEOUT)
            if checked.unread and len(batch) > 1:  # one file must not leave the others unread
                singly = [
                    _checked(program.name, programs[program.name], {path: text}, TIMEOUT / len(batch))
                    for path, text in batch.items()
                ]
                remarks += [each for one in singly for each in one.remarks]
                unread |= {path: why for one in singly for path, why in one.unread.items()}
            else:
                remarks += checked.remarks
                unread |= checked.unread
    unread |= {each.path: each.said.message for each in remarks if isinstance(each.said, CannotRead)}
    return Checked(tuple(each for each in remarks if each.path not in unread or each.said.is_syntax), unread)


def _checked(name: str, program: str, texts: Mapping[str, bytes], timeout: float) -> Checked:
    """All remarks of one run, or all files as unread."""
    try:
        return Checked(tuple(_batch(name, program, texts, timeout)))
    except CheckerError as problem:
        return Checked(unread=dict.fromkeys(texts, str(problem)))
    except (ValidationError, UnicodeDecodeError):
        return Checked(unread=dict.fromkeys(texts, f"what {name} wrote cannot be read"))


def _batch(name: str, program: str, texts: Mapping[str, bytes], timeout: float) -> Iterator[ProgramRemark]:
    heard = dict.fromkeys(_said(name, program, {path: _unsilenced(text) for path, text in texts.items()}, timeout))
    silencing = {path: text for path, text in texts.items() if _unsilenced(text) != text}
    left = set(_said(name, program, silencing, timeout)) if silencing else set()
    for path, said in heard:
        silenced = path in silencing and (path, said) not in left
        yield ProgramRemark(path, name, said, silenced or _BUNDLED in texts[path])


def _said(name: str, program: str, texts: Mapping[str, bytes], timeout: float) -> Iterator[tuple[str, Complaint]]:
    copy_name, read = _TOOLS[name]
    with TemporaryDirectory(prefix="review-advisor-checks-") as made:
        folder = Path(made).resolve()
        copies: dict[str, str] = {}
        for number, (path, text) in enumerate(texts.items()):
            copy = copy_name(number, PurePosixPath(path).name.lower())
            copies[copy] = path
            (folder / copy).parent.mkdir(parents=True, exist_ok=True)
            (folder / copy).write_bytes(text)
        for copy, said in read(
            folder, list(copies), lambda words: bounded_run([program, *words], folder, timeout=timeout)
        ):
            yield copies[copy], said


def _unsilenced(text: bytes) -> bytes:
    blanked = _SILENCERS.sub(lambda found: b"-" * len(found[0]), text)
    return _SHELLCHECK.sub(lambda found: found[1] + b"-" * len(found[2]), blanked)
