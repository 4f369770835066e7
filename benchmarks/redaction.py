"""How much code the masking of secrets hides, and how many secrets it finds, in samples drawn by somebody else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from _figures import Row, command_line, held, tell
from _redaction_samples import CODE_SAMPLES, ORDINARY, SECRET_SAMPLES, SecretSample

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.redaction import doubtful_lines, masks_of_text, shown_file
from review_advisor.safety.secrets import Mask

LEAST_RECALL = 0.98
MOST_LEFT = 4
"""So many letters and digits of a recognised secret may stay visible."""


def hidden_code(line: int) -> list[str]:
    """The paths of the samples in which what must stay visible does not, as hunks that begin at a line."""
    return [
        sample.path
        for sample in CODE_SAMPLES
        if not doubtful_lines(file := _changed(sample.path, sample.text, line))
        and any(piece not in _shown(file) for piece in sample.visible)
    ]


def _changed(path: str, text: str, line: int) -> FileChange:
    lines = tuple(f"+{each}" for each in text.split("\n"))
    status = Status.ADDED if line == 1 else Status.MODIFIED
    return FileChange(status, path, added=len(lines), hunks=(Hunk(line - 1, 0, line, len(lines), "", lines),))


def _shown(file: FileChange) -> str:
    return "\n".join(line[1:] for hunk in shown_file(file).hunks for line in hunk.lines)


def is_recognised(sample: SecretSample) -> bool:
    """Whether of each secret in the sample at most four letters and digits stay visible."""
    found = masks_of_text(sample.path, sample.text)
    return all(len(_visible(sample.text, secret, found)) <= MOST_LEFT for secret in sample.secrets)


def _visible(text: str, secret: str, found: list[Mask]) -> str:
    start = text.index(secret)
    masked = {at for each in found for at in range(each.start, each.end)}
    return "".join(sign for at, sign in enumerate(secret, start) if sign.isalnum() and at not in masked)


def main() -> None:
    """Tell the figures."""
    options = command_line(__doc__).parse_args()
    hidden, in_hunks = hidden_code(1), hidden_code(30)
    unsure = [each.path for each in SECRET_SAMPLES if doubtful_lines(_changed(each.path, each.text, 30))]
    missed = Counter(sample.kind for sample in SECRET_SAMPLES if not is_recognised(sample))
    share = 1 - missed.total() / len(SECRET_SAMPLES)
    marked = [path for path, text in ORDINARY if masks_of_text(path, text)]
    verdict = "held" if share >= LEAST_RECALL else "MISSED"
    rows: list[Row] = [
        (
            "samples with hidden code",
            f"{len(hidden)}",
            f"{held(len(hidden), 0, 'samples')}; {len(CODE_SAMPLES)} samples",
        ),
        (
            "hunks with hidden code",
            f"{len(in_hunks)}",
            f"{held(len(in_hunks), 0, 'hunks')}; {len(CODE_SAMPLES)} samples from line 30 on",
        ),
        ("secrets that leave a file unread", f"{len(unsure)}", f"no bar; {len(SECRET_SAMPLES)} samples"),
        ("secrets recognised", f"{share:.1%}", f"bar {LEAST_RECALL:.0%}: {verdict}; {len(SECRET_SAMPLES)} samples"),
        ("ordinary texts with a mark", f"{len(marked)}", f"{held(len(marked), 0, 'texts')}; {len(ORDINARY)} texts"),
    ]
    tell(Path(__file__).stem, {"masking, on samples of others": rows}, write=options.write)
    for title, names in (("hidden in", [*hidden, *in_hunks]), ("not recognised", list(missed)), ("marked", marked)):
        if names:
            print(f"{title}: {', '.join(names)}")


if __name__ == "__main__":
    main()
