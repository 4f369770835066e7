"""How many made-up secrets are recognised, and how often well-known source trees are marked for nothing."""

from __future__ import annotations

import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

from _figures import Row, command_line, held, tell
from _secret_samples import CONTEXTS, KEYS, NAMED, PASSWORDS, TOKENS, Draw, Shape, below_its_id, left

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.redaction import masked_text, shown_file
from review_advisor.safety.secrets import secrets_in

LEAST_RECALL = 0.98
MOST_FALSE_MARKS = 1.0
PACKAGES = ("hypothesis", "mypy", "pip", "pydantic", "pygments")
"""Looked through where no folder is given: every checkout has them, in one version."""
LARGEST = 3_000_000
IS_A_KEY = "private key"

FAMILIES = {
    "known by its form": TOKENS,
    "known by its name or place": NAMED,
    "passwords": PASSWORDS,
    "private keys": KEYS,
}
BELOW_ITS_ID = "AWS secret below its id"

PATHS = {
    "env": "a.env",
    "JSON": "a.json",
    "YAML": "a.yaml",
    "Python": "a.py",
    "JavaScript": "a.js",
    "Dockerfile": "Dockerfile",
    "URL": "a.md",
    "log": "a.log",
    "wrapped": "a.txt",
    "escaped": "a.json",
}
"""The file that each context is written in."""

Hides = Callable[[str, str, str], bool]
"""Whether nothing of a secret is left of a file: its path, its text, and what of it is the secret."""


def samples(of_each: int, seed: int) -> Iterator[tuple[str, str, str, str]]:
    """Family, context, text and secret: every shape in every context."""
    draw = Draw(seed)
    for family, shapes in FAMILIES.items():
        for shape in shapes:
            yield from _in_contexts(family, shape, of_each, draw)
    for context, of in CONTEXTS.items():
        for _ in range(10 * of_each):
            yield BELOW_ITS_ID, context, *below_its_id(of, draw)


def _in_contexts(family: str, shape: Shape, of_each: int, draw: Draw) -> Iterator[tuple[str, str, str, str]]:
    for context, of in CONTEXTS.items():
        for _ in range(of_each):
            secret = shape.make(draw)
            yield family, context, of(shape.name, secret, draw), shape.bare(secret)


def recall(hides: Hides, of_each: int, seed: int) -> tuple[float, list[Row]]:
    """The share of hidden samples in the worst family, and the shares of all, by family and by context."""
    asked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for family, context, text, secret in samples(of_each, seed):
        hidden = hides(PATHS[context], text, secret)
        for group in ("all", family, f"in {context}"):
            asked[group] += 1
            found[group] += hidden
    rows = [(group, f"{found[group] / count:.2%}", f"{count} samples") for group, count in asked.items()]
    return min(found[family] / asked[family] for family in (*FAMILIES, BELOW_ITS_ID)), rows


def files_in(folder: Path) -> Iterator[str]:
    """The texts of a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST:
            content = path.read_bytes()
            if b"\0" not in content[:8_192]:
                yield content.decode("utf-8", "replace")


def false_marks(folders: list[Path], count: Callable[[str], Counter[str]]) -> list[Row]:
    """Marks per 10,000 lines of each folder; the lines of private keys that it holds are no false ones."""
    rows: list[Row] = []
    all_lines, all_false, all_size, began = 0, 0, 0, process_time()
    for folder in folders:
        lines, kinds = 0, Counter[str]()
        for text in files_in(folder):
            lines += text.count("\n") + 1
            all_size += len(text)
            kinds += count(text)
        keys = kinds.pop(IS_A_KEY, 0)
        false = kinds.total()
        named = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common(4))
        remark = f"{lines} lines; {named or 'none'}" + (f"; {keys} lines of private keys" if keys else "")
        rows.append((folder.name, f"{false / max(1, lines) * 10_000:.2f}", remark))
        all_lines += lines
        all_false += false
    rate = all_false / max(1, all_lines) * 10_000
    rows.append(("all", f"{rate:.2f}", f"{held(rate, MOST_FALSE_MARKS, 'of 10,000 lines')}; {all_lines} lines"))
    seconds = process_time() - began
    rows.append(
        (
            "time",
            f"{seconds / max(1, all_size) * 1e6:.2f} s",
            f"of the processor for a megabyte of {all_size / 1e6:.0f}",
        )
    )
    return rows


def hidden_by_us(path: str, text: str, secret: str) -> bool:
    """Whether nothing of it is shown, neither in the file nor in a diff that adds it."""
    lines = [f"+{line}" for line in text.split("\n")]
    added = shown_file(FileChange(Status.ADDED, path, hunks=(Hunk(0, 0, 1, len(lines), "", lines),)))
    return not left(secret, masked_text(path, text)) and not left(secret, added.hunks[0].text)


def marked_by_us(text: str) -> Counter[str]:
    """What our recogniser finds, by kind."""
    return Counter(kind for _, _, kind in secrets_in(text))


def main() -> None:
    """Tell the shares."""
    parser = command_line(__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="source trees to look through (else five packages)")
    parser.add_argument("--of-each", type=int, default=20, help="samples of a shape in a context")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    home = Path(sysconfig.get_paths()["purelib"])
    folders = options.folders or [home / name for name in PACKAGES]
    share, rows = recall(hidden_by_us, options.of_each, options.seed)
    verdict = "held" if share >= LEAST_RECALL else "MISSED"
    bar = f"bar {LEAST_RECALL:.0%} of each family: {verdict}; {rows[0][2]}"
    issuers = len({shape.issuer for shapes in FAMILIES.values() for shape in shapes})
    *by_folder, false, time = false_marks(folders, marked_by_us)
    by_context = [row for row in rows if row[0].startswith("in ")]
    by_family = [row for row in rows[1:] if row not in by_context]
    tell(Path(__file__).stem, {"found, by context": by_context, "false marks, by folder": by_folder}, write=False)
    tables = {
        f"secrets recognised, of {issuers} shapes in ten contexts": [("all", rows[0][1], bar), *by_family],
        "false marks per 10,000 lines": [false, time],
    }
    tell(Path(__file__).stem, tables, write=options.write)


if __name__ == "__main__":
    main()
