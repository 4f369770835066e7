"""The pictures of a change as agents are shown them, and what their remarks are held against."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from review_advisor.core.answers.answers import ReportedFinding, ReviewReport
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding, RefusedFinding, finding_id, merged
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.facts.pictures import PictureDifference, judged_pictures
from review_advisor.core.roles.prompts import nonce_of
from review_advisor.core.safety.fence import fence, fenced

PICTURES = "PICTURES"
_STATES = {
    "identical": "identical pixels",
    "added": "added, no before",
    "removed": "removed, no after",
    "unreadable": "cannot be read",
    "too_large": "too large to compare",
    "vector": "vector, reviewed as text with the change",
}


def picture_words(picture: PictureDifference) -> str:
    """One picture in one line."""
    said = _STATES.get(picture.state) or f"{picture.changed_pixels} pixels differ"
    partly = " (not all of it is shown)" if picture.partly else ""
    return f"{shown_path(picture.name)}: {said}{partly}{f': {picture.why}' if picture.why else ''}"


def pictures_section(pictures: Sequence[PictureDifference], nonce: str) -> str:
    """Every picture with the crops to read, fenced."""
    lines = [line for picture in pictures for line in (picture_words(picture), *(f"  {n}" for n in picture.crops))]
    return (
        "The pictures, compared pixel by pixel, each with its crops: files in your working folder. Read every crop;"
        " names that differ only in before and after show the same place:\n" + fence(PICTURES, "\n".join(lines), nonce)
    )


def crops_shown(prompt: str) -> tuple[str, ...]:
    """The crops that a prompt asks to read, by name; none in a prompt without pictures."""
    if f"UNTRUSTED {PICTURES} " not in prompt:
        return ()
    inside = fenced(prompt, PICTURES, nonce_of(prompt)) or ""
    return tuple(line[2:] for line in inside.split("\n") if line.startswith("  "))


def compared_report(pictures: Sequence[PictureDifference]) -> CheckedReport | None:
    """The approval that needs no model, because there is nothing to look at; None when there is."""
    if judged_pictures(pictures):
        return None
    same = sum(picture.state == "identical" for picture in pictures)
    vectors = sum(picture.state == "vector" for picture in pictures)
    said = [f"{same} of {len(pictures)} with identical pixels"] if same else []
    said += [f"{vectors} reviewed as text"] if vectors else []
    unread = sum(picture.unread for picture in pictures)
    said += [f"{unread} that nobody could look at"] if unread else []
    return CheckedReport("approve", f"Pictures compared without a model: {', '.join(said)}.", 1.0)


def unread_pictures(pictures: Sequence[PictureDifference]) -> tuple[str, ...]:
    """What can be seen by nobody, by name."""
    return tuple(picture_words(picture) for picture in pictures if picture.unread)


class ShownPictures:
    """The pictures as the agents saw them, ready to hold a report against."""

    def __init__(self, pictures: Sequence[PictureDifference]) -> None:
        self._pictures = {shown_path(picture.name): picture for picture in judged_pictures(pictures)}

    def check(self, report: ReviewReport, open_disagreements: Collection[str] = ()) -> CheckedReport:
        """Keep each finding whose path is a picture and whose evidence names a crop of it; refuse the others."""
        del open_disagreements  # no retry, so no answers
        checked = list(self._checked(report.findings))
        return CheckedReport(
            verdict=report.verdict,
            summary=report.summary,
            confidence=report.confidence,
            findings=merged(each for each in checked if isinstance(each, Finding)),
            refused=tuple(each for each in checked if isinstance(each, RefusedFinding)),
        )

    def _checked(self, findings: Sequence[ReportedFinding]) -> Iterator[Finding | RefusedFinding]:
        for one in findings:
            picture = self._pictures.get(one.path)
            named = [crop for crop in picture.crops if crop in one.evidence] if picture is not None else []
            if picture is None or not named:
                why = "its evidence names no crop of the picture" if picture else "it is about no picture shown here"
                yield RefusedFinding(one.path, one.title, one.severity, why)
                continue
            places = [crop.partition("-")[2] for crop in named]  # the key before it depends on the other pictures
            yield Finding(
                id=finding_id(picture.name, one.category, " ".join(places)),
                path=picture.name,
                line=1,
                end_line=1,
                removed=picture.state == "removed",
                severity=one.severity,
                category=one.category,
                title=one.title,
                body=one.body,
                suggestion=None,
                confidence=one.confidence,
                evidence=one.evidence,
            )
