"""A job that publishes is cancelled, or runs out of time: its check does not stay in progress."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass, replace

import pytest
from tests.adapters.command_line import PATIENT_BOT, wait_for
from tests.adapters.git_remote import NAME
from tests.adapters.pull_request_world import APP, LINES, Actions, WorkflowRun
from tests.scenarios.publishing import Desk

from review_advisor.change.git_diff import GitPatcher
from review_advisor.github.check_text import check_in_progress
from review_advisor.github.publish import PublishPhase, Unfinished
from review_advisor.github.state import external_id, seal_in
from review_advisor.github.writer import PullRequestWriter
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.github_traffic import NoAnswer, RequestMoment

PATIENCE = 60.0
"""Seconds for a process that has two: this machine may be busy."""
TOLD = "Interrupted: the check says that the review could not be published."


# Where GitHub keeps silent while the process is told to end, from the first request to the last before the verdict.
MOMENTS = {
    "before the pull request is read": RequestMoment(operation="get pull request"),
    "before it is known whose configuration holds": RequestMoment(operation="get branch"),
    "before the configuration is read": RequestMoment(operation="get content"),
    "before what stands is read": RequestMoment(operation="list comments"),
    "before the review is written": RequestMoment(operation="create review"),
    "before the summary is written": RequestMoment(operation="create comment"),
    "before the check is concluded": RequestMoment(operation="update check run"),
}


@dataclass
class Publication:
    """The third job of a run, in a process of its own, at a request that GitHub does not answer."""

    actions: Actions
    ran: WorkflowRun
    child: subprocess.Popen[str]

    def told(self, number: int) -> tuple[int, str]:
        """Send the signal; how the process ended, and its last words."""
        self.child.send_signal(number)
        try:
            _, err = self.child.communicate(timeout=PATIENCE)
        finally:
            self.child.kill()
        assert "Traceback" not in err
        return self.child.returncode, err.splitlines()[-1]

    @property
    def check(self) -> tuple[str | None, str | None]:
        pull = self.actions.github.repository(NAME).pulls[1]
        check = self.actions.check(pull)
        return check.conclusion, check.title


def publishing(actions: Actions, silence: RequestMoment) -> Publication:
    """A review that asks for changes is being published, up to that moment."""
    pull = actions.opens({APP: LINES + "value = 31\n"})
    actions.models.executor_says(reject(finding(APP, 31, "value = 31")))
    ran = actions.starts("opened", pull).begin().review()
    requests, before = actions.github.traffic, len(actions.door.received)
    requests.meets(NoAnswer(), silence)
    followed = {name: value for name, value in os.environ.items() if name.startswith(("COVERAGE_", "PYTHONPATH"))}
    child = subprocess.Popen(
        [*PATIENT_BOT, *map(str, ran.publishing())],
        cwd=ran.place,
        env={**followed, **actions.environment(ran, "publish")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: requests.unmet == 0 and len(actions.door.received) > before)
    return Publication(actions, ran, child)


@pytest.mark.every_case
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_publication_that_is_told_to_end_fails_its_check(moment: str, number: int, actions: Actions) -> None:
    publication = publishing(actions, MOMENTS[moment])
    assert publication.told(number) == (128 + number, TOLD)
    assert publication.check == ("failure", "The review could not be published")
    publication.ran.publish()
    assert publication.check == ("failure", "Changes requested: 1 high")


@pytest.mark.parametrize("begun_by", ["9001", "9002"])
@pytest.mark.parametrize("known", [True, False])
def test_what_another_run_has_begun_is_left_to_it(begun_by: str, known: bool) -> None:
    desk = Desk()
    in_progress = check_in_progress(desk.rules, desk.pull.number)
    name = external_id(desk.pull.number, begun_by)
    desk.forge.create_check(desk.pull.head_sha, replace(in_progress, external_id=name))
    bot = desk.bot(run="9001")
    unfinished = Unfinished(bot, desk.pull.number, desk.pull.head_sha)
    if known:
        unfinished.is_known(bot, desk.pull.head_sha)
    said = unfinished.last_words(desk.forge)
    expected = ("failure", TOLD) if begun_by == "9001" else (None, "Interrupted: no check was in progress.")
    assert ([check.conclusion for check in desk.checks], said) == ([expected[0]], expected[1])


def test_a_verdict_that_stands_is_left_alone() -> None:
    desk = Desk()
    unfinished = Unfinished(desk.bot(), desk.pull.number, desk.pull.head_sha)
    phase = PublishPhase(desk.bot(), GitPatcher(), unfinished.stands)
    desk.forge.create_check(desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number))
    unfinished.is_known(desk.bot(), desk.pull.head_sha)
    phase.publish(desk.pull.number, desk.reviewed(), asked=False)
    assert unfinished.last_words(desk.forge).startswith("Interrupted: the check stands")
    assert [check.conclusion for check in desk.checks] == ["success"]


def test_it_takes_one_request_where_the_check_is_known_and_keeps_its_seal() -> None:
    desk = Desk()
    desk.publish(desk.reviewed())
    sealed = seal_in(desk.checks[0].external_id)
    PullRequestWriter(desk.bot(), desk.pull.number).checks.stand(
        desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number)
    )
    unfinished = Unfinished(desk.bot(), desk.pull.number, "")
    unfinished.is_known(desk.bot(), desk.pull.head_sha)
    before = len(desk.github.traffic.log)
    assert unfinished.last_words(desk.forge) == TOLD
    assert [each.operation for each in desk.github.traffic.log[before:]] == ["update check run"]
    assert [seal_in(check.external_id) for check in desk.checks] == [sealed] != [""]
