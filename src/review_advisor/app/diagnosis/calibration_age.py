"""Whether the calibration that a working tree's files rest on is young enough and of labels enough (``doctor``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path

from review_advisor.adapters.user_file import LARGEST, UserFileError, read_user_file
from review_advisor.app.configuration import working_config
from review_advisor.app.doctor import Diagnosis, repository_top
from review_advisor.app.settings import ConfigError
from review_advisor.core.evaluation.calibration.cells import FEWEST_OF_CELL
from review_advisor.core.evaluation.calibration.earned_map import FEWEST_OF_MAP
from review_advisor.core.evaluation.calibration.kind_records import KINDS_FILE, parse_kind_records
from review_advisor.core.policy.escalation_rules import FIRST_THRESHOLD, PROFILES
from review_advisor.core.policy.thresholds import THRESHOLDS_FILE, parse_threshold_file
from review_advisor.core.report.wording import counted, printable_line

MOST_DAYS = 90
"""A calibration that is older tells of other models, prompts and code than those of today."""
_MOST_TOLD = 3
Sample = tuple[str, int]
"""What was calibrated, and on how many labels."""


def examine_calibration(repo: Path, today: date) -> tuple[Diagnosis, ...]:
    """A warning for each file that is old, that rests on few labels, or that cannot be used.

    Without files, one where the review itself consults by a threshold that nobody calibrated; else nothing.
    """
    top = repository_top(repo)
    return (
        *_uncalibrated(repo, top),
        *_examined(top, THRESHOLDS_FILE, _thresholds, today),
        *_examined(top, KINDS_FILE, _kinds, today),
    )


def _uncalibrated(repo: Path, top: Path) -> Iterator[Diagnosis]:
    with suppress(ConfigError):  # it is told as a mistake of the configuration
        profile = working_config(repo)[0].escalation.profile
        if PROFILES[profile] is not None and not (top / THRESHOLDS_FILE).is_file():
            yield _advice(
                f'escalation.profile is "{profile}", and no threshold was calibrated: {FIRST_THRESHOLD} holds for every'
                " finding. Run `review-advisor calibrate --propose` once people have judged findings."
            )


def _thresholds(text: str) -> tuple[date | None, list[Sample], int]:
    file = parse_threshold_file(text)
    return file.made, [(e.words, e.labels) for e in file.threshold if e.labels is not None], FEWEST_OF_MAP


def _kinds(text: str) -> tuple[date | None, list[Sample], int]:
    file = parse_kind_records(text)
    return file.made, [(e.kind.words, e.labels) for e in file.records], FEWEST_OF_CELL


def _examined(
    top: Path, name: str, parse: Callable[[str], tuple[date | None, list[Sample], int]], today: date
) -> Iterator[Diagnosis]:
    if not (top / name).is_file():
        return
    try:
        made, samples, fewest = parse(read_user_file(top / name, LARGEST).decode())
    except UnicodeDecodeError:
        yield _advice(f"{name} is not UTF-8 text.")
        return
    except UserFileError as problem:
        yield _advice(f"{name} cannot be read: {problem}.")
        return
    except ValueError as problem:
        yield _advice(printable_line(str(problem)))
        return
    warnings = [*_age(name, made, samples, today), *_few(name, samples, fewest)]
    yield from map(_advice, warnings)
    if not warnings:
        says = "no calibration is behind it" if made is None else f"of {made.isoformat()}"
        yield Diagnosis("rules", "calibration", True, f"{name}: {says}")


def _age(name: str, made: date | None, samples: Iterable[Sample], today: date) -> Iterator[str]:
    if made is None:
        if any(samples):
            yield f"{name} does not say when its calibration was made: add `made`, or calibrate again."
    elif made > today:
        yield f"{name} rests on a calibration of {made.isoformat()}, which is still to come: correct `made`."
    elif (today - made).days > MOST_DAYS:
        yield (
            f"{name} rests on a calibration of {made.isoformat()}, {(today - made).days} days ago; models and prompts"
            " change sooner. Run `review-advisor calibrate --propose` again."
        )


def _few(name: str, samples: Iterable[Sample], fewest: int) -> Iterator[str]:
    few = [f"{words}: {counted(labels, 'label')}" for words, labels in samples if labels < fewest]
    if few:
        more = f", and {len(few) - _MOST_TOLD} more" if len(few) > _MOST_TOLD else ""
        told = printable_line("; ".join(few[:_MOST_TOLD]))
        yield f"{name} rests on fewer than {fewest} labels in places ({told}{more}). Observe more pull requests first."


def _advice(says: str) -> Diagnosis:
    return Diagnosis("rules", "calibration", False, says)
