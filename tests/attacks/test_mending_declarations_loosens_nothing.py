"""An author who breaks or mends files in ``.review-advisor/`` to be reviewed by fewer advisors, lower thresholds or
other prices.
"""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest

from review_advisor.app.configuration import Declares, HeadFiles, believed_declarations
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import PRICES
from review_advisor.policy.prices import NO_PRICES, OwnPrices
from review_advisor.policy.settings import Config, ConfigError, EscalationConfig
from review_advisor.policy.thresholds import THRESHOLDS_FILE

ADVISOR = ".review-advisor/advisors/data.md"
GOOD, BAD = "---\nid: dataSteward\non: finish\n---\nLooks after the data.\n", "---\nidd: dataSteward\n---\nLooks.\n"
HIGH, LOW, WRONG = (f"[[threshold]]\nvalue = {value}\n".encode() for value in ("0.9", "0", "9"))
TOUCHED = (ADVISOR, THRESHOLDS_FILE, "src/app.py")
CHANGES = tuple(chain.from_iterable(combinations(TOUCHED, count) for count in range(len(TOUCHED) + 1)))
PROFILE = Config(escalation=EscalationConfig(profile="attrition"))


def believed(base: tuple[str, bytes], head: tuple[str, bytes], paths: tuple[str, ...]) -> tuple[set[str], list[float]]:
    """The members and the thresholds by which a change is reviewed."""
    files = HeadFiles(lambda: {ADVISOR: BaseText(head[0])}, lambda _: head[1])
    declares = Declares(lambda: {ADVISOR: BaseText(base[0])}, files, paths)
    roster, thresholds, prices = believed_declarations(PROFILE, lambda _: base[1], declares)
    assert prices == NO_PRICES
    return {advisor.id for advisor in roster.advisors[1:]}, [each.value for each in thresholds]


@pytest.mark.parametrize("head", tuple(product((GOOD, BAD), (LOW, WRONG))))
@pytest.mark.parametrize("base", tuple(product((GOOD, BAD), (HIGH, WRONG))))
def test_no_change_lowers_a_threshold_or_brings_its_own_advisors(
    base: tuple[str, bytes], head: tuple[str, bytes]
) -> None:
    broken = {path for path, is_broken in ((ADVISOR, base[0] == BAD), (THRESHOLDS_FILE, base[1] == WRONG)) if is_broken}
    mended = {path for path, is_right in ((ADVISOR, head[0] == GOOD), (THRESHOLDS_FILE, head[1] == LOW)) if is_right}
    for paths in CHANGES:
        if broken and not (paths and broken <= mended and set(paths) <= broken):
            with pytest.raises(ConfigError):
                believed(base, head, paths)
            continue
        members, thresholds = believed(base, head, paths)
        assert members == (set() if ADVISOR in broken else {"dataSteward"}), paths
        assert thresholds == ([1.0] if THRESHOLDS_FILE in broken else [0.9]), paths


PRICED, UNPRICED = (
    f'[[prices]]\nmodel = "a"\nsince = 2026-01-01\ninput = {rate}\noutput = 1\ncache_read = 0\ncache_write = 0\n'
    for rate in ("1", "nan")
)


def test_no_change_brings_its_own_prices_and_one_that_mends_them_is_reviewed_by_the_shipped_ones() -> None:
    def prices(base: str, head: str, paths: tuple[str, ...], advisor: tuple[str, str] = (GOOD, GOOD)) -> OwnPrices:
        files = (
            {PRICES: BaseText(text), ADVISOR: BaseText(other)}
            for text, other in zip((base, head), advisor, strict=True)
        )
        at_base, at_head = files
        declares = Declares(lambda: at_base, HeadFiles(lambda: at_head, lambda _: None), paths)
        return believed_declarations(Config(), lambda _: None, declares).prices

    other = PRICED.replace('"a"', '"b"')
    assert prices(PRICED, other, (PRICES,)).models == ("a",)
    assert prices(UNPRICED, PRICED, (PRICES,)) == NO_PRICES
    assert prices(UNPRICED, PRICED, (PRICES, ADVISOR), (BAD, GOOD)) == NO_PRICES
    for base, head, paths, advisor in (
        (UNPRICED, UNPRICED, (PRICES,), (GOOD, GOOD)),
        (UNPRICED, PRICED, (PRICES, ADVISOR), (GOOD, GOOD)),
        (UNPRICED, PRICED, (PRICES, "src/app.py"), (GOOD, GOOD)),
        (PRICED, other, (PRICES, ADVISOR), (BAD, GOOD)),
    ):
        with pytest.raises(ConfigError):
            prices(base, head, paths, advisor)
