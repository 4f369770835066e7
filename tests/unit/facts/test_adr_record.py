import pytest

from review_advisor.change.change import Change, FileChange, Status
from review_advisor.change.decision_records import changed_records, may_be_record, same_decision, structure_faults
from review_advisor.mockworld.world import deleted, edited

DECIDED = "We keep every value for ever, in the order in which it came, at any cost."

SOUND = {
    "one file a decision": (
        f"# Keep\n\nStatus: accepted\n\n## Context\n\nx\n\n## Decision\n\n{DECIDED}\n\n## Consequences\n\ny\n"
    ),
    "numbered top headings": f"# 1. Context\nx\n# 2. Decision\n{DECIDED}\n# 3. Consequences\ny\n# Status\nok\n",
    "MADR": (
        "---\nstatus: accepted\n---\n# Keep\n## Context and Problem Statement\nx\n## Decision Drivers\n* fast\n"
        f"## Decision Outcome\n{DECIDED}\n### Consequences\n* good\n"
    ),
    "underlined": (
        "Keep\n====\n\nStatus: ok\n\nContext\n-------\nx\n\nDecision\n--------\n"
        f"{DECIDED}\n\nConsequences\n------------\ny\n"
    ),
    "asciidoc": f"= Keep\nStatus: ok\n\n== Context\nx\n== Decision\n{DECIDED}\n== Consequences\ny\n",
    "closed headings": f"# Keep #\nStatus ok\n## Context ##\nx\n## Decision ##\n{DECIDED}\n## Consequences ##\n",
    "windows": f"# Keep\r\nStatus: ok\r\n## Context\r\nx\r\n## Decision\r\n{DECIDED}\r\n## Consequences\r\ny\r\n",
    "a code block that comments": (
        f"# K\nStatus\n## Context\n## Decision\n```sh\n# Consequences\n```\n{DECIDED}\n## Consequences\n"
    ),
    "MADR minimal": (
        "# Keep\n\n## Context and Problem Statement\n\nx\n\n## Considered Options\n\n* a\n\n## Decision Outcome\n\n"
        'Chosen option: "a", because it is cheap.\n'
    ),
    "Nygard": (
        "# 7. Keep\n\n## Status\n\nAccepted\n\n## Context\n\nx\n\n## Decision\n\nWe will use Redis as our cache.\n\n"
        "## Consequences\n\ny\n"
    ),
    "a Y-statement": (
        "# Keep\n\nIn the context of the shop, facing many readers, we decided for a cache\nto achieve speed, accepting"
        " stale values.\n"
    ),
    "ours": (
        "# ADR-0007: Keep\n\n- Status: Accepted\n- Enforced by: `x`\n\n## Context\n\nx\n\n## Decision\n\nKeep.\n\n"
        "## Consequences\n\ny\n"
    ),
    "a fence within a line": (f"# K\nStatus\n## Context\nas in x ``` y\n## Decision\n{DECIDED}\n## Consequences\n"),
    "a decision in sub-headings": f"# K\nStatus\n## Context\n## Decision\n### What\n{DECIDED}\n## Consequences\n",
}


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND.keys())
def test_a_sound_record_in_any_common_form_has_no_fault(text: str) -> None:
    assert structure_faults(text) == ()


@pytest.mark.parametrize("section", ["Context", "Decision"])
def test_a_missing_section_is_named(section: str) -> None:
    text = SOUND["one file a decision"].replace(f"## {section}\n", "## Not that\n")
    assert structure_faults(text) == (f"section {section!r} is missing",)


@pytest.mark.parametrize("decision, faults", [("We will use Redis as our cache.", 0), ("x", 0), (" \n ", 1)])
def test_a_decision_may_be_short_and_not_empty(decision: str, faults: int) -> None:
    text = SOUND["one file a decision"].replace(DECIDED, decision)
    assert len(structure_faults(text)) == faults


def test_what_stands_under_the_next_heading_is_not_the_decision() -> None:
    text = f"# K\nStatus\n## Context\n## Decision\n\n## Consequences\n{DECIDED}{DECIDED}\n"
    assert structure_faults(text) == ("its decision is empty",)


def test_what_stands_beside_decision_and_status_may_change() -> None:
    text = SOUND["one file a decision"]
    assert same_decision(text, text.replace("\ny\n", "\nwhy\n").replace("\nx\n", "\nbecause\n"))


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND.keys())
def test_blanks_are_no_other_decision_in_any_template(text: str) -> None:
    assert same_decision(text, text.replace("\n", "  \n"))


@pytest.mark.parametrize(
    "old, new",
    [
        (DECIDED, DECIDED.replace("every", "no")),
        ("Status: accepted", "Status: superseded"),
        ("## Decision\n", "## Decision\n\nNot:\n"),
        ("## Consequences", "## Decision\n\nNothing.\n\n## Consequences"),
    ],
)
def test_another_decision_or_status_is_a_change_of_the_record(old: str, new: str) -> None:
    text = SOUND["one file a decision"]
    assert old in text
    assert not same_decision(text, text.replace(old, new))


def test_each_decision_of_a_record_counts() -> None:
    text = SOUND["one file a decision"] + "\n## Decision\n\nNo cache.\n"
    assert not same_decision(text, text.replace("No cache.", "A cache."))


def test_of_a_text_without_a_decision_every_word_counts() -> None:
    assert not same_decision("# K\n\nWe keep it.\n", "# K\n\nWe drop it.\n")


def test_a_record_whose_decision_and_status_stay_is_not_looked_at() -> None:
    path = "docs/adr/0001-x.md"
    change = Change("x", files=(edited(path), edited("docs/adr/0002-y.md")), same_decisions=(path,))
    assert [file.path for file in changed_records(change, ("docs/adr",))] == ["docs/adr/0002-y.md"]


def test_only_a_document_that_is_changed_in_place_can_stay_the_same() -> None:
    assert may_be_record(edited("docs/adr/0001-x.md"))
    assert not may_be_record(edited("docs/adr/README.md"))
    assert not may_be_record(FileChange(Status.ADDED, "docs/adr/0001-x.md"))
    assert not may_be_record(FileChange(Status.MODIFIED, "docs/adr/0001-x.md", new_mode="120000"))


def test_records_are_numbered_documents_in_or_below_a_folder_for_records_in_any_case() -> None:
    names = ["0001-x.md", "ADR-12_y.rst", "07-z.adoc", "adr12-keep.adoc", "12-keep.markdown", "2026/0003-w.md"]
    others = ["README.md", "notes-0001-x.md", "1-x.md", "0001.md", "0001-x.py", "0001-x.txt", "0001-x.md.orig"]
    yes = ["docs/ADR/0001-x.md", *(f"docs/adr/{name}" for name in names)]
    no = ["docs/adrs/0001-x.md", "docs/0001-x.md", *(f"docs/adr/{name}" for name in others)]
    binary = FileChange(Status.ADDED, "docs/adr/0009-b.md", binary=True)
    change = Change("x", files=(*map(edited, yes), *map(edited, no), deleted("docs/adr/0002-x.md"), binary))
    assert [file.path for file in changed_records(change, ("docs/adr",))] == yes


UNDERLINED = (
    f"Keep\n====\nStatus\n\nContext\n-------\nx\n\nDecision\n--------\n{DECIDED}\n\n{{}}Consequences\n------------\ny\n"
)


def test_a_line_in_a_block_of_code_is_no_heading_whatever_stands_below_it() -> None:
    text = UNDERLINED.format("").replace("Decision\n--------", "```\nDecision\n--------\n```")
    assert structure_faults(text) == ("section 'Decision' is missing",)


@pytest.mark.parametrize("sign", '=~^"*-')
def test_a_heading_may_be_underlined_with_any_of_six_signs(sign: str) -> None:
    text = UNDERLINED.format("").replace("Decision\n--------", f"Decision\n{sign * 3}")
    assert "section 'Decision' is missing" not in structure_faults(text)
    text = text.replace(f"Decision\n{sign * 3}", f"Decision\n{sign * 2}")
    assert "section 'Decision' is missing" in structure_faults(text)


@pytest.mark.parametrize("line", ["- Decision", " Decision", "> Decision"])
def test_only_a_line_that_begins_with_a_word_is_underlined(line: str) -> None:
    text = UNDERLINED.format("").replace("\nDecision\n", f"\n{line}\n")
    assert structure_faults(text) == ("section 'Decision' is missing",)


def test_the_line_under_a_heading_counts_as_no_part_of_the_decision() -> None:
    text = UNDERLINED.format("").replace(f"Decision\n--------\n{DECIDED}", "Decision\n" + "-" * 80 + "\n\n")
    assert structure_faults(text) == ("its decision is empty",)


HIDDEN = "# Use SQLite\n\n<!--\n## Decision\n\nWe use SQLite.\n-->\n\n## Amendment\n\nWe use MySQL.\n"
AMENDED = "# Use SQLite\n\n## Decision\n\nWe use SQLite.\n\n## Amendment\n\nWe use MySQL.\n"
RENAMED = "# Use MySQL\n\n## Decision\n\nWe use SQLite.\n"


@pytest.mark.parametrize("after", [HIDDEN, AMENDED, RENAMED])
def test_a_decision_hidden_in_a_comment_or_overruled_under_a_new_heading_is_another_one(after: str) -> None:
    assert not same_decision("# Use SQLite\n\n## Decision\n\nWe use SQLite.\n", after)
