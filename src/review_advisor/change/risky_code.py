"""What changed lines deal with: subjects in which a small mistake is a hole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from review_advisor.change.change import FileChange
from review_advisor.change.ci_files import CI, edit_of, only_bumps
from review_advisor.change.kinds import Kind, PathRule, kind_of

RISKY_CODE: dict[str, str] = {
    "runs a process": (
        r"\bsubprocess\b|\bpopen\w*\b|\bos\.(?:system|exec\w*|spawn\w*)\b|\bshell\s*=\s*True\b|\bchild_process\b"
        r"|\bexec(?:Sync|File|FileSync|Command)?\s*\(|\bspawn(?:Sync)?\s*\(|\bsystem\s*\(|\bRuntime\.getRuntime\b"
        r"|\bProcessBuilder\b|\bOpen3\b|\bshellescape\b|\bshlex\b|\bescapeshellarg\b|%x[({\[]"
    ),
    "evaluates code": (
        r"\beval\s*\(|\b(?:instance|class|module)_eval\b|\bnew Function\s*\(|\bconstantize\b|\bvm\.run\w*"
    ),
    "builds SQL": (
        r"(?i:^(?>.*?\bselect\b).+\bfrom\b|^(?>.*?\bupdate\b).+\bset\b"
        r"|\binsert\s+into\b|\bdelete\s+from\b|\border\s+by\b)"
        r"|\b(?:execute|executemany|raw|find_by_sql|sanitize_sql\w*)\s*\(|\bArel\.sql\b|\bcursor\b"
    ),
    "deserialises": (
        r"\b(?:pickle|cPickle|marshal|Marshal|dill|jsonpickle|shelve)\b|\byaml\.(?:load|unsafe_load)\b|\bYAML\.load\b"
        r"|\bunserialize\b|\bObjectInputStream\b|\bunmarshal\w*|\bdeserializ\w*|\breviver\b|\b_?load_hook\b"
    ),
    "uses cryptography or secrets": (
        r"(?i:\bhmac\b|\bhashlib\b|\bmd5\b|\bsha-?(?:1|256|512)\b|\baes\b|\brsa\b|\becdsa\b|\bcipher\w*|\bdecrypt\w*"
        r"|\bencrypt\w*|\bsignature\w*|\bverify_mode\b|\bssl\w*context\b|\bcert(?:ificate)?s?\b|\bnonce\b|\bdigest\w*"
        r"|compare_digest|secure_compare|\bpasswords?\b|\bcredentials?\b|\bsecrets?\b|\bprivate_?key\b|\bapi_?key\b)"
    ),
    "checks permissions or identity": (
        r"(?i:\bauth[nz]?\b|\bauthenticat\w*|\bauthori[sz]\w*|\bpermissions?\b|\bpermitted?\b|\bforbidden\b|\bcsrf\w*"
        r"|\bcurrent_user\b|\bis_admin\b|\bsuperuser\b|\blogin_required\b|\bsession_?id\b|\bimpersonat\w*|\bsame_?site\b"
        r"|\bhttponly\b|\baccess_token\b|\bjwt\b|\bcors\b|\borigins?\b|\bcan\?|\ballowed_\w+|\bwhitelist\b|\ballow_?list\b)"
    ),
    "parses or escapes untrusted text": (
        r"(?i:\bxml\b|\betree\b|\bnokogiri\b|\bdoctype\b|\bentity\b|\bhtml_safe\b|\binnerhtml\b|\bunescape\w*|\bescape\w*"
        r"|\bsaniti[sz]\w*|\bmarkup\b|\bmark_safe\b|\bsafe_?join\b|\brealpath\b|\bnormpath\b|\bexpand_path\b|\bsend_file\b"
        r"|\btraversal\b|\bsymlinks?\b|\bextractall\b|\bzipfile\b|\btarfile\b|\bcontent-length\b|\btransfer-encoding\b"
        r"|\bredirect\w*|\bnetloc\b|\bhostname\b|\bcrlf\b|\bmax_\w*(?:size|length|bytes|depth)\b|\bbytesize_?limit\b)"
        r"|\\r\\n|\.\./"
    ),
}
"""Each subject, and the words by which its lines are known, in the languages in which they are usual."""

_DATA = PathRule(("*.txt", "*.svg", "*.toml", "*.cfg", "*.ini", "*.json", ".editorconfig"))
"""What holds such words without dealing with them: hashes of requirements, the XML of pictures."""

CHANGES_CI = "changes what CI runs"
"""The subject of a workflow or action, unless pinned actions are only moved to another version."""

LONGEST = 10_000
"""Characters of a line in which words are looked for: a longer line is itself a reason to look closely."""

TOO_LONG = f"has a line of more than {LONGEST:,} characters"


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((subject, re.compile(pattern, re.MULTILINE)) for subject, pattern in RISKY_CODE.items())


def subjects_of(text: str) -> tuple[str, ...]:
    """The subjects that some lines of code deal with, by their words."""
    return tuple(subject for subject, pattern in _compiled() if pattern.search(text))


def risky_code(files: Iterable[FileChange]) -> tuple[str, ...]:
    """``path: subject`` for each subject that added or removed lines of code deal with, in order."""
    found: list[str] = []
    for file in files:
        if CI.touched_by((file,)):
            lines = edit_of(file, None).lines
            found += [] if lines is not None and only_bumps(lines) else [f"{file.path}: {CHANGES_CI}"]
        elif kind_of(file) is Kind.CODE and not _DATA.touched_by((file,)):
            code = [line[1:] for line in file.signed_lines]
            found += [f"{file.path}: {subject}" for subject in subjects_of("\n".join(each[:LONGEST] for each in code))]
            if any(len(line) > LONGEST for line in code):
                found.append(f"{file.path}: {TOO_LONG}")
    return tuple(found)
