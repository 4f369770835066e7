"""The files of a review that is over, by name: each a reading of its document."""

from __future__ import annotations

import json

from review_advisor.core.exports.advisor_log import AdvisorLog, advisor_log
from review_advisor.core.exports.council_verdict import COUNCIL_FILE, council_verdict
from review_advisor.core.outcome.document import OutcomeDocument, outcome_json
from review_advisor.core.report.disagreement import disagreement_transcript
from review_advisor.core.report.repair_text import PATCH_FILE
from review_advisor.core.report.report_text import report_text
from review_advisor.core.report.session_rows import session_rows


def review_files(document: OutcomeDocument) -> dict[str, str]:
    """Their texts, in the order of writing: ``outcome.json`` is last, so that it stands only where all others do."""
    texts = {"report.txt": report_text(document)}
    if document.repair is not None:
        texts[PATCH_FILE] = document.repair.patch
    texts["advisor_session.jsonl"] = "".join(json.dumps(row) + "\n" for row in session_rows(document))
    transcript = disagreement_transcript(document)
    if transcript is not None:
        texts["transcript.md"] = transcript
    council = council_verdict(document)
    if council is not None:
        texts[COUNCIL_FILE] = json.dumps(council, indent=2) + "\n"
    texts |= log_file(advisor_log(document.events))
    texts["outcome.json"] = outcome_json(document)
    return texts


def log_file(log: AdvisorLog) -> dict[str, str]:
    """The file of the advisor's log, which a review that was killed has too."""
    return {f".advisor/{log.task_id}.json": log.model_dump_json(indent=2) + "\n"}
