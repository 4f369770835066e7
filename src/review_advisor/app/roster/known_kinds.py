"""What the believed commit says on kinds of findings: for people to read, and of no effect on a review."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from review_advisor.app.settings import ConfigError
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.ports.forge import ForgeError
from review_advisor.ports.review import SourceError


def kind_notes(
    file: Callable[[str], bytes | None], document: OutcomeDocument, warn: Callable[[str], None]
) -> Mapping[str, str]:
    """A sentence for each finding of a kind that is known well enough, by the finding's id.

    ``file`` reads the believed commit. A file that cannot be used says nothing, and ``warn`` is told.
    """
    if not document.findings:
        return {}
    from review_advisor.core.evaluation.calibration.kind_records import KINDS_FILE, parse_kind_records

    try:
        raw = file(KINDS_FILE)
        return {} if raw is None else parse_kind_records(raw.decode()).notes(document)
    except UnicodeDecodeError:
        warn(f"{KINDS_FILE} of the base commit is not UTF-8 text, so findings come without their kind's record.")
    except (ConfigError, ForgeError, SourceError, ValueError) as problem:
        warn(f"{problem} Findings come without their kind's record.")
    return {}
