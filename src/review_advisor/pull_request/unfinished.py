"""The check that a publication has to conclude: whatever ends the publication early, the check fails and says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from review_advisor.core.forge_text.check import check_not_published
from review_advisor.core.pull_request.markers import day_in, external_id, seal_in, usd_in
from review_advisor.core.pull_request.standing import StandingCheck
from review_advisor.ports.forge import Forge, ForgeError
from review_advisor.ports.review import SourceError
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.writer import PullRequestWriter

INTERRUPTED = "The job that publishes was told to end before it was done: it was cancelled, or it ran out of time."


class Unfinished:
    """The check of a pull request's head, while nobody has concluded it yet.

    Until it ``is_known`` which one that is, the bot may go by default rules. Without a head there is no check.
    """

    def __init__(self, bot: Bot, number: int, head_sha: str) -> None:
        self._bot = bot
        self._number = number
        self._head_sha = head_sha
        self._waits: StandingCheck | None = None
        self._stands = False

    def is_known(self, bot: Bot, head_sha: str) -> None:
        """By which rules the bot goes, and of which head the check is. Raises ``ForgeError``."""
        self._bot, self._head_sha = bot, head_sha
        self._waits = self._in_progress(bot)

    def stands(self) -> None:
        """The verdict's check stands: from now on it is left alone."""
        self._stands = True

    @contextmanager
    def decided(self) -> Iterator[None]:
        """Whatever is raised within, the check does not stay in progress: it fails, and says why.

        The error is raised all the same. A check that the forge does not take either stays as it is, and so does one
        that another run has begun anew.
        """
        try:
            yield
        except Exception as error:
            with suppress(ForgeError):
                self._fail(str(error) if isinstance(error, ForgeError | SourceError) else "")
            raise

    def _fail(self, why: str) -> None:
        if self._in_progress(self._bot) is not None:
            failed = check_not_published(self._bot.rules, self._number, why)
            PullRequestWriter(self._bot, self._number).checks.conclude(self._head_sha, failed.name, lambda: failed)

    def last_words(self, forge: Forge) -> str:
        """Conclude the check now, by one request if it is known which one it is. Returns the sentence for the user.

        ``forge`` is one that nobody else is using. The process ends within two seconds, whatever GitHub does.
        """
        if self._stands:
            return "Interrupted: the check stands, but what comes after it may be missing."
        bot, number = self._bot, self._number
        failed = check_not_published(bot.rules, number, INTERRUPTED)
        try:
            found = self._waits or self._in_progress(replace(bot, forge=forge))
            if found is None:
                return "Interrupted: no check was in progress."
            said = found.external_id
            name = external_id(number, bot.run, seal_in(said), usd_in(said), day_in(said))
            forge.update_check(found.id, replace(failed, external_id=name, details_url=bot.details_url))
        except ForgeError as problem:
            return f"Interrupted, and the check stays in progress: {problem}"
        return "Interrupted: the check says that the review could not be published."

    def _in_progress(self, bot: Bot) -> StandingCheck | None:
        return PullRequestWriter(bot, self._number).checks.in_progress(self._head_sha, bot.rules.check_name)
