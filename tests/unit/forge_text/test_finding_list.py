"""Whatever is left out of a list of findings is milder than all that stays, and every finding is listed or counted."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.forge_text.judge import OURS, PARSER, offences
from tests.unit.forge_text.stories import placed_nowhere, remembers, told

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.agents.findings import Finding, finding_id, ordered
from review_advisor.github.comment_text import MOST_SUMMARY, summary_body, summary_did_not_run
from review_advisor.github.findings_text import MOST_FILES, MOST_IN_FULL, MOST_ROWS, Listed, finding_list
from review_advisor.github.log_text import log_lines
from review_advisor.github.sarif import MOST_RESULTS, sarif
from review_advisor.github.sections import size
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome
from review_advisor.safety.markdown import cell, code, phrase

RULES = PublicationRules()
PLAIN = told()
SEVERITY = st.sampled_from(SEVERITIES)
TYPED: dict[str, Severity] = {each: each for each in SEVERITIES}
COUNT = re.compile(r"([\d,]+) (critical|high|medium|low)")
SECTION = re.compile(r"\*\*(?:Findings\*\*:|Still open\*\*).*?(?=\n\n<details><summary>(?!\d)|\n\n<!--|$)", re.DOTALL)
OPEN = re.compile(r"^(?:- \*\*|\| )(critical|high|medium|low)(?:\*\*| \|)", re.MULTILINE)


def a_finding(number: int, severity: Severity, path: str = "src/a.py", title: str = "a fault") -> Finding:
    quote = f"value = {number}"
    name = finding_id(path, "c", quote)
    return Finding(name, path, number, number, False, severity, "c", title, "Why.", None, 0.9, quote)


def with_findings(*findings: Finding) -> OutcomeDocument:
    return replace(PLAIN, outcome=Outcome.CHANGES_REQUESTED, findings=findings, repository="a/shop", pull_request=7)


def mixed(mix: dict[Severity, int], files: int = 3, title: str = "a fault") -> tuple[Finding, ...]:
    """So many of each severity, the mildest first."""
    severities = [severity for severity in reversed(SEVERITIES) for _ in range(mix.get(severity, 0))]
    return tuple(a_finding(n + 1, each, f"src/{n % files}.py", title) for n, each in enumerate(severities))


def section(body: str) -> str:
    """The list of the findings in a summary."""
    found = re.search(
        r"\*\*(?:Findings\*\*:|Still open\*\*).*?(?=\n\n<details><summary>(?!\d)|\n\n<!--|$)", body, re.DOTALL
    )
    return found[0] if found else ""


def listed_and_counted(text: str) -> tuple[list[Severity], Counter[Severity]]:
    """The severities that stand one by one, in their order, and how many are only counted, by file."""
    one_by_one, _, rest = text.partition(", counted by file (")
    by_file = rest.partition("\n\n")[2]
    counted: Counter[Severity] = Counter()
    for number, severity in COUNT.findall(by_file):
        counted[TYPED[severity]] += int(number.replace(",", ""))
    return [TYPED[each] for each in OPEN.findall(one_by_one)], counted


MIXES = st.fixed_dictionaries({each: st.integers(0, 130) for each in SEVERITIES})


@pytest.mark.every_case
@settings(max_examples=40)
@given(MIXES, st.integers(1, 60), st.sampled_from(["a fault", "ü" * 300, "<&`|`@x " * 30]))
def test_at_every_size_what_is_left_out_is_no_worse_than_what_stays(
    mix: dict[Severity, int], files: int, title: str
) -> None:
    document = with_findings(*mixed(mix, files, title))
    body = summary_body(document, RULES, remembers(document))
    assert size(body) <= MOST_SUMMARY
    listed, counted = listed_and_counted(section(body))
    assert Counter(listed) + counted == +Counter(mix)
    ranks = [SEVERITIES.index(each) for each in listed]
    assert ranks == sorted(ranks)
    assert all(max(ranks, default=0) <= SEVERITIES.index(each) for each in counted)
    assert offences(body, OURS) == []


def test_of_240_findings_every_critical_one_is_seen_and_the_low_ones_are_counted() -> None:
    document = with_findings(*mixed({"critical": 38, "low": 202}))
    text = section(summary_body(document, RULES, remembers(document)))
    assert text.count("- **critical** ") == MOST_IN_FULL
    assert text.count("| critical | ") == 38 - MOST_IN_FULL
    rest = 240 - MOST_IN_FULL - MOST_ROWS
    assert f"{rest} more findings, counted by file ({rest} low). [The check's page](/a/shop/pull/7/checks) has" in text


def test_the_longest_summary_has_30_000_characters() -> None:
    document = with_findings(*mixed({"critical": 200, "low": 200}, files=60, title="ü" * 300))
    body = summary_body(document, RULES, remembers(document), placed_nowhere(document))
    assert 25_000 < size(body) <= 30_000


def test_a_few_findings_are_a_list_and_nothing_else() -> None:
    text = section(summary_body(with_findings(*mixed({"high": 2})), RULES, remembers(PLAIN)))
    assert text.count("\n- **high** [`src/") == 2
    assert "<details>" not in text
    assert "counted" not in text


def test_an_older_critical_finding_stands_above_a_new_low_one() -> None:
    first = with_findings(a_finding(1, "critical"))
    second = replace(with_findings(a_finding(2, "low", "src/b.py")), run_id="run-2", coverage=())
    state = remembers(second, remembers(first))
    left = state.model_copy(update={"findings": tuple(
        each.model_copy(update={"status": "open"}) for each in state.findings
    )})  # fmt: skip
    listed, _ = listed_and_counted(section(summary_body(second, RULES, left)))
    assert listed == ["critical", "low"]


def test_a_review_that_did_not_run_lists_what_is_open_by_the_same_law() -> None:
    document = with_findings(*mixed({"critical": 40, "low": 79}))
    body = summary_did_not_run("The job was cancelled.", remembers(document))
    listed, counted = listed_and_counted(section(body))
    assert Counter(listed) + counted == Counter({"critical": 40, "low": 79})
    assert size(body) <= MOST_SUMMARY


@pytest.mark.parametrize("repository", [None, "/evil.example/x", "a/b](x", "a/b/c", "../b"])
def test_a_repository_that_is_none_makes_no_link(repository: str | None) -> None:
    document = replace(with_findings(*mixed({"low": 200})), repository=repository)
    text = section(summary_body(document, RULES, remembers(document)))
    assert "The check's page has every finding of this review." in text
    assert "](" not in text


def listing(*findings: tuple[Severity, str]) -> list[Listed]:
    return [Listed(severity, path, 1, "t", "f-1") for severity, path in findings]


@given(
    st.lists(st.tuples(SEVERITY, st.sampled_from([f"{n}.py" for n in range(30)])), max_size=200), st.integers(0, 9_000)
)
def test_a_shortened_list_keeps_its_worst_and_counts_the_others(
    findings: list[tuple[Severity, str]], over: int
) -> None:
    every = sorted(listing(*findings), key=lambda each: SEVERITIES.index(each.severity))
    whole = finding_list("head", every, "The page")
    short = whole.without(over)
    listed, counted = listed_and_counted(short.text)
    assert listed == [each.severity for each in every[: len(listed)]]
    if short.files:
        assert Counter(listed) + counted == Counter(each.severity for each in every)
    least = finding_list("head", every, "The page").without(10**9)
    assert size(short.text) <= max(size(whole.text) - over, size(least.text))


def test_the_files_with_the_worst_are_named_and_the_others_counted_together() -> None:
    found = [("critical", "z.py"), *((("low"), f"{n}.py") for n in range(MOST_FILES + 4))]
    text = finding_list("head", listing(*found), "The page").without(10**9)  # type: ignore[arg-type]
    number = f"{len(found)} findings, counted by file (1 critical, {MOST_FILES + 4} low)."
    assert text.text == f"head\n\n{number} The page has every finding of this review."
    some = replace(text, files=2).text
    assert "\n- `z.py`: 1 critical\n- `0.py`: 1 low\n" in some
    assert some.endswith(f"\n- {MOST_FILES + 3} more files: {MOST_FILES + 3} low")


@given(st.text("ab`|\\*_<@ ", max_size=30))
def test_no_text_begins_another_cell(text: str) -> None:
    row = f"| {cell(phrase(text))} | {cell(code(text))} | end |"
    tokens = PARSER.parse(f"| a | b | c |\n| - | - | - |\n{row}")
    assert sum(token.type == "td_open" for token in tokens) == 3
    assert [token.content for token in tokens if token.type == "inline"][-1] == "end"


# --- elsewhere --------------------------------------------------------------------------------------------------------


@pytest.mark.every_case
@given(st.fixed_dictionaries({each: st.integers(0, 30) for each in SEVERITIES}))
def test_the_annotations_in_the_log_are_the_worst(mix: dict[Severity, int]) -> None:
    every = [replace(each, title=each.severity) for each in mixed(mix)]
    lines = list(log_lines(with_findings(*every)))
    titles = [line.partition("title=")[2].partition("%3A")[0] for line in lines if line.startswith("::")]
    shown = [TYPED[each.lower()] for each in titles]
    left = re.search(r"([\d,]+) more findings? not shown", lines[-1])
    assert len(shown) + (int(left[1]) if left else 0) == len(every)
    rest = Counter(each.severity for each in every) - Counter(shown)
    worst = max((SEVERITIES.index(each) for each in shown), default=0)
    assert all(SEVERITIES.index(each) >= worst for each in rest)
    levels = Counter(line.partition(" ")[0] for line in lines if line.startswith("::"))
    assert max(levels.values(), default=0) <= 10


def test_a_finding_is_never_shown_as_worse_than_it_is() -> None:
    lines = list(log_lines(with_findings(*mixed({"medium": 15, "low": 15}))))
    assert Counter(line.partition(" ")[0] for line in lines[1:-1]) == {"::warning": 10, "::notice": 10}


def test_sarif_says_how_many_milder_findings_it_left_out() -> None:
    every = mixed({"critical": 2, "low": MOST_RESULTS})
    (run,) = sarif(with_findings(*every), "1")["runs"]
    assert [each["properties"]["severity"] for each in run["results"][:3]] == ["critical", "critical", "low"]
    assert len(run["results"]) == MOST_RESULTS
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    assert said["message"]["text"] == "2 milder findings left out: a log has a limit"


def test_every_list_begins_with_the_worst() -> None:
    assert [each.severity for each in ordered(mixed(dict.fromkeys(SEVERITIES, 1)))] == list(SEVERITIES)


def test_a_list_is_shortened_no_more_than_it_has_to_be() -> None:
    whole = shorter = finding_list("head", listing(*(("low", f"{n % 3}.py") for n in range(40))), "the page")
    for _ in range(12):
        before, shorter = shorter, shorter.without(1)
        assert whole.without(len(whole.text) - len(shorter.text)) == shorter
        assert len(shorter.text) < len(before.text)


@pytest.mark.parametrize("over", range(1, 1_750, 67))
def test_no_more_findings_or_files_are_left_out_than_have_to_be(over: int) -> None:
    whole = finding_list(
        "**Findings**:", (Listed("low", f"src/{n}.py", n, "a fault", f"f-{n}") for n in range(40)), "P"
    )
    room = size(whole.text) - over
    shorter = whole.without(over)
    assert shorter.listed == 0 or shorter.files == MOST_FILES
    assert size(shorter.text) <= room
    longer = (
        replace(shorter, files=shorter.files + 1)
        if shorter.files < MOST_FILES
        else replace(shorter, listed=shorter.listed + 1)
    )
    assert size(longer.text) > room
