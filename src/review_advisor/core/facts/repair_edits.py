"""What an executor's edits come to, as the harness read them back from the folder: never what a model says of them."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.facts.change import Change, FileChange

WHOLE = "*"
"""The path of a refusal that is about the repair as a whole."""
MASKED_LINE = "it writes over a line with a secret, which is shown masked"
WRITES_MARK = "it writes the mark of a secret"


@dataclass(frozen=True, slots=True)
class RefusedPath:
    """A touched path for which a repair is refused as a whole, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Edits:
    """The folder as the executor left it.

    ``tree`` names the tree it holds, ``patch`` leads there from the head, ``touched`` are the same differences as
    facts, and ``change`` is the change under review with them: from the base to ``tree``. ``unfit`` names what
    cannot be part of any patch; then the other fields say that nothing was edited.
    """

    tree: str
    patch: str
    change: Change
    touched: tuple[FileChange, ...]
    unfit: tuple[RefusedPath, ...] = ()


@dataclass(frozen=True, slots=True)
class RepairState:
    """What of repairs is in the version under judgement.

    ``patch`` leads from the head to it, empty for the head itself. ``refused`` says why the executor's latest
    edits are not in it.
    """

    patch: str = ""
    refused: tuple[RefusedPath, ...] = ()
