"""By which marks the bot knows its own words: each names one thing, and nothing that only begins like it."""

from itertools import product

import pytest

from review_advisor.github.state import (
    begun_by,
    day_in,
    external_id,
    finding_in,
    finding_marker,
    is_by_newer,
    is_check_of,
    is_newer,
    is_review,
    number_in,
    review_marker,
    seal_in,
    usd_in,
)

NUMBERS = (1, 2, 10, 11, 12, 21, 112, 120, 1_000_000_000)
RUNS = ("", "1", "12", "9001")
FINDING = "f-01234567890123456789012345678901"


@pytest.mark.parametrize("number,run", list(product(NUMBERS, RUNS)))
def test_a_check_is_of_one_pull_request_and_of_one_run(number: int, run: str) -> None:
    external = external_id(number, run)
    assert [each for each in NUMBERS if is_check_of(each, external)] == [number]
    assert (number_in(external), begun_by(external)) == (number, run)


@pytest.mark.parametrize(
    "external",
    ["", "pr-", "pr-0", "pr-01", "xpr-1", "pr-1x", "pr-1-2", "a pr-1", "pr-1/other-2", "pr-1\n/run-1", "xpr-1/run-2"],
)
def test_what_only_looks_like_our_mark_is_no_check_of_ours(external: str) -> None:
    assert number_in(external) is None
    assert begun_by(external) == ""
    assert seal_in(external) == ""
    assert not any(is_check_of(number, external) for number in NUMBERS)


def test_only_the_first_words_of_a_comment_say_whose_it_is() -> None:
    mark = finding_marker(FINDING)
    assert finding_in(f"{mark}\nwords") == FINDING
    for body in (f"words {mark}", f"\n{mark}", f" {mark}", f"> {mark}", mark.upper(), mark[:-4]):
        assert finding_in(body) is None
    assert is_review(f"{review_marker('run-1')}\nwords")
    assert not is_review(f"words {review_marker('run-1')}")


@pytest.mark.parametrize(
    "other, run, newer",
    [
        *(("2", "1", True), ("10", "9", True), ("1", "", True)),
        *(("1", "1", False), ("1", "2", False), ("9", "10", False), ("", "1", False), ("", "", False)),
        *(("x9", "1", False), ("99x", "1", False), ("\u0663", "2", False), ("\u00b2", "1", False)),
    ],
)
def test_a_workflow_run_is_newer_by_its_number(other: str, run: str, newer: bool) -> None:
    assert is_newer(other, run) is newer
    assert is_by_newer(external_id(7, other), run) is newer
    assert not is_by_newer(f"somebody's-{other}", run)


@pytest.mark.parametrize("how", ["signed", "noted"])
def test_a_check_bears_one_seal(how: str) -> None:
    seal = f"{how}-{'0f' * 24}"
    for run in ("", "12"):
        external = external_id(7, run, seal)
        assert (number_in(external), begun_by(external), seal_in(external)) == (7, run, seal)
        assert seal_in(external_id(7, run)) == ""
    for broken in (seal[:-1], f"{seal}0", seal.replace(how, "sealed")):
        assert seal_in(f"pr-7/{broken}") == ""


@pytest.mark.parametrize("seal", ["", f"signed-{'a' * 48}"])
@pytest.mark.parametrize("usd, told", [(0.0, 0.0), (1.8, 1.8), (1e12, 9_999_999.99)])
def test_a_check_tells_a_day_with_its_amount_beside_everything_else(usd: float, told: float, seal: str) -> None:
    external = external_id(7, "12", seal, 2.5, ("2026-01-05", usd))
    assert day_in(external) == ("2026-01-05", told)
    assert (number_in(external), begun_by(external), seal_in(external), usd_in(external)) == (7, "12", seal, 2.5)
    assert day_in(external_id(7, "12", seal, 2.5)) == ("", 0.0)


@pytest.mark.parametrize("day", ["/day-2026-1-5-1.00", "/day--1.00", "/day-2026-01-05--1.00", "/day-2026-01-05-1"])
def test_what_is_no_day_and_amount_is_no_check_of_ours(day: str) -> None:
    assert number_in(f"pr-7{day}") is None
    assert day_in(f"pr-7{day}") == ("", 0.0)
