"""The promise about digests: what a later review is compared with says everything that decided, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.mockworld.stage import PlayedReview
from review_advisor.policy.scope import policy_digest
from review_advisor.policy.surfaces import Role
from review_advisor.policy.switches import read_switches

HELD_ON = {
    Role.PRE_FLIGHT: {"pr_review", "adr_review"},
    Role.MID_FLIGHT: {"pr_review", "pre_merge_spec_check"},
    Role.POST_VERIFY: {"pr_review", "pre_merge_spec_check", "adr_review", "visual_gate", "wiki_ingest"},
}
"""ADR-0059's matrix: where a role runs that a switch may turn off. The specification's plan is that of pr_review."""
LEFT_OUT = {"adr_review"}
"""The surfaces that do not run at all where their own switch is off."""


def the_same_settings_have_one_digest(reading: Reading) -> Iterator[str]:
    """A review and the one before it have one policy digest if their settings agree, and two if they do not."""
    mine = reading.review
    for other in reading.earlier[-1:]:
        if mine.document is None or other.document is None:
            continue
        same = policy_digest(mine.document.policy) == policy_digest(other.document.policy)
        if same != (_settings(mine) == _settings(other)):
            yield f"the digests of reviews {other.number} and {mine.number} are {'the same' if same else 'two'}"


def _settings(review: PlayedReview) -> object:
    """What the environment says of the surfaces that ran; the configuration is one in all of a story."""
    switches = read_switches(review.environment)
    rows = review.document.policy.surfaces if review.document is not None else ()
    return (
        switches.fail_as_veto,
        switches.max_consults,
        [
            (
                row.surface,
                switches.advisor_models[row.surface],
                switches.executor_models[row.surface],
                row.surface not in LEFT_OUT or switches.surfaces[row.surface],
                {role: switches.disabled_by(role, row.surface) for role in row.roles if row.surface in HELD_ON[role]},
            )
            for row in rows
        ],
    )
