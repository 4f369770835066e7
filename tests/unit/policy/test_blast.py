"""How far a change can do harm, and why."""

import pytest

from review_advisor.policy.risk import BlastRadius, blast_radius


@pytest.mark.parametrize(
    "critical, own, lines, radius",
    [
        ((), (), 0, BlastRadius.LOW),
        ((), (), 200, BlastRadius.LOW),
        ((), (), 201, BlastRadius.MEDIUM),
        (("auth/a.py",), (), 0, BlastRadius.HIGH),
        ((), (".mcp.json",), 0, BlastRadius.HIGH),
        (("auth/a.py",), (".mcp.json",), 201, BlastRadius.HIGH),
    ],
)
def test_the_tiers_of_blast(critical: tuple[str, ...], own: tuple[str, ...], lines: int, radius: BlastRadius) -> None:
    blast = blast_radius(critical, own, lines)
    assert blast.radius is radius
    assert len(blast.because) == max(1, len(critical) + len(own))


def test_a_high_blast_names_every_path() -> None:
    assert blast_radius(("a",), ("b",), 999).because == (
        "critical path touched: a",
        "the bot's own implementation touched: b",
    )


def test_a_small_change_of_risky_code_is_medium_and_says_what_it_deals_with() -> None:
    blast = blast_radius((), (), 3, ("src/a.py: builds SQL",))
    assert (blast.radius, blast.because) == (BlastRadius.MEDIUM, ("changed code src/a.py: builds SQL",))
    assert blast_radius(("auth/a.py",), (), 3, ("src/a.py: builds SQL",)).radius is BlastRadius.HIGH
