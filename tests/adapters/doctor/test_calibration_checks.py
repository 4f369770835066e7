"""``doctor`` says when a calibration is too old, or rests on too few labels."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.git_repository import Repo

from review_advisor.app.doctor import MOST_DAYS, examine_calibration
from review_advisor.ledger.kind_records import KINDS_FILE
from review_advisor.policy.thresholds import THRESHOLDS_FILE

TODAY = date(2026, 11, 26)
YOUNG, OLD = TODAY - timedelta(days=MOST_DAYS), TODAY - timedelta(days=MOST_DAYS + 1)
NEXT = TODAY + timedelta(days=1)
KIND = 'advisor = "executor"\nmodel = "m"\nsurface = "pr_review"\ncategory = "bug"\n'


@pytest.mark.parametrize(
    "name, text, ok, words",
    [
        (THRESHOLDS_FILE, "[[threshold]]\nvalue = 0.5\n", True, "no calibration is behind it"),
        (THRESHOLDS_FILE, f"made = {YOUNG}\n[[threshold]]\nvalue = 0.5\nlabels = 200\n", True, f"of {YOUNG}"),
        (THRESHOLDS_FILE, f"made = {OLD}\n[[threshold]]\nvalue = 0.5\nlabels = 200\n", False, "91 days ago"),
        (THRESHOLDS_FILE, f"made = {TODAY}\n[[threshold]]\nvalue = 0.5\nlabels = 200\n", True, f"of {TODAY}"),
        (THRESHOLDS_FILE, f"made = {NEXT}\n[[threshold]]\nvalue = 0.5\nlabels = 200\n", False, "still to come"),
        (KINDS_FILE, 'made = 2099-01-01\nlabels_of = "people"\n', False, "of 2099-01-01, which is still to come"),
        (THRESHOLDS_FILE, "[[threshold]]\nvalue = 0.5\nlabels = 200\n", False, "does not say when"),
        (
            THRESHOLDS_FILE,
            f'made = {YOUNG}\n[[threshold]]\nvalue = 0.5\nsurface = "pr_review"\nlabels = 199\n',
            False,
            "fewer than 200 labels in places (pr_review: 199 labels)",
        ),
        (THRESHOLDS_FILE, "made = [", False, "is not valid TOML"),
        (KINDS_FILE, f'made = {YOUNG}\nlabels_of = "people"\n[[kind]]\n{KIND}labels = 30\nright = 1\n', True, "of 20"),
        (
            KINDS_FILE,
            f'made = {YOUNG}\nlabels_of = "people"\n[[kind]]\n{KIND}labels = 29\nright = 1\n',
            False,
            "fewer than 30 labels in places (executor / m / pr_review / bug: 29 labels)",
        ),
        (KINDS_FILE, f'made = {YOUNG}\nlabels_of = "revert"\n', False, "labels_of: should be 'people'"),
    ],
)
def test_each_file_is_told_with_its_age_and_its_sample(
    tmp_path: Path, name: str, text: str, ok: bool, words: str
) -> None:
    Repo(tmp_path / "shop").write(name, text)
    (found,) = examine_calibration(tmp_path / "shop", TODAY)

    assert found.ok is ok
    assert words in found.says
    assert found.says.startswith(name)


def test_doctor_warns_of_an_old_one_and_says_nothing_without_one(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    assert "calibration" not in terminal.run("doctor").out
    repo.write(THRESHOLDS_FILE, "made = 2020-01-01\n[[threshold]]\nvalue = 0.5\nlabels = 250\n")
    (check,) = (each for each in json.loads(terminal.run("doctor", "--json").out)["checks"] if "calib" in each["name"])
    assert (check["for"], check["ok"]) == ("rules", False)


def test_a_profile_whose_threshold_nobody_calibrated_is_an_anti_pattern(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    assert examine_calibration(repo.path, TODAY) == ()
    repo.write(".review-advisor.toml", '[escalation]\nprofile = "attrition"\n')
    (found,) = examine_calibration(repo.path, TODAY)
    assert (found.ok, "no threshold was calibrated: 0.7 holds" in found.says) == (False, True)
    repo.write(THRESHOLDS_FILE, f"made = {YOUNG}\n[[threshold]]\nvalue = 0.8\nlabels = 200\n")
    assert [each.ok for each in examine_calibration(repo.path, TODAY)] == [True]
