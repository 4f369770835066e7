"""The bot on one repository: what it speaks to, the rules it keeps, and whose run it is in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.unreviewed import DEFAULT, NeverLeftOut
from review_advisor.core.safety.redaction import NO_SECRETS, Redactor
from review_advisor.ports.forge import Forge
from review_advisor.ports.review import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """The bot in one run on one repository.

    ``details_url`` is where its checks lead. ``run`` is this workflow run, which concludes the reviews that it began;
    empty outside of one, which leaves nothing to another run. ``redactor`` knows what a review's outcome and memory are
    not to say: names are compared as it leaves them. ``repository`` is ``owner/name``. ``state_key`` signs what is
    remembered; None where nothing is signed. ``never_left_out`` is reviewed whatever the rules leave out.
    ``believed_branch`` is the one whose configuration the rules are; where it is empty, no path is left out.
    ``consults``: by that configuration a review may consult the advisor. ``finding_notes`` say of the findings of the
    review to publish, by their ids, what is known of their kind.
    """

    forge: Forge
    clock: Clock
    rules: PublicationRules
    details_url: str | None = None
    run: str = ""
    redactor: Redactor = NO_SECRETS
    repository: str = ""
    state_key: bytes | None = field(default=None, repr=False)
    never_left_out: NeverLeftOut = DEFAULT
    believed_branch: str = ""
    consults: bool = False
    finding_notes: Mapping[str, str] = field(default_factory=dict)
