import pytest

from review_advisor.core.facts.adr_record import changed_records, structure_faults
from review_advisor.core.facts.change import Change, FileChange, Status
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
    "a decision in sub-headings": f"# K\nStatus\n## Context\n## Decision\n### What\n{DECIDED}\n## Consequences\n",
}


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND.keys())
def test_a_sound_record_in_any_common_form_has_no_fault(text: str) -> None:
    assert structure_faults(text) == ()


@pytest.mark.parametrize("section", ["Context", "Decision", "Consequences"])
def test_a_missing_section_is_named(section: str) -> None:
    text = SOUND["one file a decision"].replace(f"## {section}\n", "## Not that\n")
    assert structure_faults(text) == (f"section {section!r} is missing",)


def test_a_missing_status_is_named() -> None:
    assert structure_faults(SOUND["one file a decision"].replace("Status", "Statuses")) == ("its status is not stated",)


@pytest.mark.parametrize("length, faults", [(59, 1), (60, 0)])
def test_a_decision_has_sixty_characters(length: int, faults: int) -> None:
    text = SOUND["one file a decision"].replace(DECIDED, "d" * length)
    assert len(structure_faults(text)) == faults


def test_what_stands_under_the_next_heading_is_not_the_decision() -> None:
    text = f"# K\nStatus\n## Context\n## Decision\nshort\n## Consequences\n{DECIDED}{DECIDED}\n"
    assert structure_faults(text) == ("its decision has fewer than 60 characters",)


def test_an_empty_text_lacks_everything() -> None:
    assert len(structure_faults("")) == 4


def test_records_are_numbered_documents_in_or_below_a_folder_for_records_in_any_case() -> None:
    yes = ["docs/adr/0001-x.md", "docs/adr/ADR-12_y.rst", "docs/adr/07-z.adoc", "docs/ADR/2026/0003-w.md"]
    no = ["docs/adr/README.md", "docs/adrs/0001-x.md", "docs/0001-x.md", "docs/adr/0001-x.py", "docs/adr/1-x.md"]
    binary = FileChange(Status.ADDED, "docs/adr/0009-b.md", binary=True)
    change = Change("x", files=(*map(edited, yes), *map(edited, no), deleted("docs/adr/0002-x.md"), binary))
    assert [file.path for file in changed_records(change, ("docs/adr",))] == yes


def test_a_record_is_known_by_the_beginning_of_its_name() -> None:
    names = ["0001-keep.md", "ADR-0001_keep.rst", "adr12-keep.adoc", "12-keep.markdown"]
    others = ["notes-0001-keep.md", "1-keep.md", "0001.md", "0001-keep.txt", "0001-keep.md.orig", "keep.md"]
    files = tuple(edited(f"docs/adr/{name}") for name in (*names, *others))
    assert [file.path for file in changed_records(Change("x", files=files), ("docs/adr",))] == [
        f"docs/adr/{name}" for name in names
    ]


def test_a_fence_within_a_line_begins_no_code() -> None:
    text = f"# K\nStatus\n## Context\nas in x ``` y\n## Decision\n{DECIDED}\n## Consequences\n"
    assert structure_faults(text) == ()


UNDERLINED = (
    f"Keep\n====\nStatus\n\nContext\n-------\nx\n\nDecision\n--------\n{DECIDED}\n\n{{}}Consequences\n------------\ny\n"
)


def test_a_line_in_a_block_of_code_is_no_heading_whatever_stands_below_it() -> None:
    text = UNDERLINED.format("```\nConsequences\n------------\n```\n\nNo ").replace(
        "No Consequences\n----", "No\n\n----"
    )
    assert structure_faults(text) == ("section 'Consequences' is missing",)


@pytest.mark.parametrize("sign", '=~^"*-')
def test_a_heading_may_be_underlined_with_any_of_six_signs(sign: str) -> None:
    text = UNDERLINED.format("").replace("Decision\n--------", f"Decision\n{sign * 3}")
    assert "section 'Decision' is missing" not in structure_faults(text)
    text = text.replace(f"Decision\n{sign * 3}", f"Decision\n{sign * 2}")
    assert "section 'Decision' is missing" in structure_faults(text)


@pytest.mark.parametrize("line", ["- Consequences", " Consequences", "> Consequences"])
def test_only_a_line_that_begins_with_a_word_is_underlined(line: str) -> None:
    text = UNDERLINED.format("").replace("\nConsequences\n", f"\n{line}\n")
    assert structure_faults(text) == ("section 'Consequences' is missing",)


def test_the_line_under_a_heading_counts_as_no_part_of_the_decision() -> None:
    text = UNDERLINED.format("").replace(f"Decision\n--------\n{DECIDED}", "Decision\n" + "-" * 80 + "\nshort")
    assert structure_faults(text) == ("its decision has fewer than 60 characters",)
