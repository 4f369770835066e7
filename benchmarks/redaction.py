"""How much code the masking of secrets hides, and how many secrets it finds, in samples drawn by somebody else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from _figures import Row, command_line, held, tell
from _redaction_samples import CODE_SAMPLES, ORDINARY, SECRET_SAMPLES, SecretSample

from review_advisor.core.safety.secret_shapes import Mask
from review_advisor.core.safety.shown_change import masked_text, masks_of_text

LEAST_RECALL = 0.98
MOST_LEFT = 4
"""So many letters and digits of a recognised secret may stay visible."""


def hidden_code() -> list[str]:
    """The paths of the samples in which something that must stay visible does not."""
    return [
        sample.path
        for sample in CODE_SAMPLES
        if any(piece not in masked_text(sample.path, sample.text) for piece in sample.visible)
    ]


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
    hidden = hidden_code()
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
        ("secrets recognised", f"{share:.1%}", f"bar {LEAST_RECALL:.0%}: {verdict}; {len(SECRET_SAMPLES)} samples"),
        ("ordinary texts with a mark", f"{len(marked)}", f"{held(len(marked), 0, 'texts')}; {len(ORDINARY)} texts"),
    ]
    tell(Path(__file__).stem, {"masking, on samples of others": rows}, write=options.write)
    for title, names in (("hidden in", hidden), ("not recognised", list(missed)), ("marked", marked)):
        if names:
            print(f"{title}: {', '.join(names)}")


if __name__ == "__main__":
    main()
