"""What drifts in the documents: printed tables, links, commands, options, named tests, the advisor's two copies."""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import picture
import pytest
import tables

from review_advisor.app.main import group
from review_advisor.change.decision_records import structure_faults
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.switches import (
    FAIL_AS_VETO,
    FORCE_ON,
    MASTER,
    MAX_CONSULTS_VARIABLE,
    ROLE_SWITCHES,
    surface_switch,
)

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SCOPES = ("REVIEW", *(surface.upper() for surface in Surface))
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?<![\w/.-])review-advisor((?:[ \t]+[^\s`#|;&]+)*)")


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> str:
    """A document without its code blocks."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def code(path: Path) -> list[str]:
    """Every line of a code block and every code span of a document."""
    text = path.read_text(encoding="utf-8")
    blocks = [line for block in FENCE.findall(text) for line in block.splitlines()[1:-1]]
    indented = re.findall(r"^ {4}(?! *[-*\d])(.+)$", prose(path), re.MULTILINE)
    return [*blocks, *indented, *re.findall(r"`([^`]+)`", prose(path))]


@pytest.mark.every_case
def test_every_table_is_what_the_code_says() -> None:
    command = [sys.executable, str(ROOT / "tools" / "tables.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_table_without_rows_is_noticed() -> None:
    page = "| a | b |\n| --- | :-: |\n{}\n```\n| c |\n| --- |\n```\n"
    assert tables.without_rows(page.format("")) == ["| a | b |"]
    assert tables.without_rows(page.format("<!-- /table:a -->")) == ["| a | b |"]
    assert tables.without_rows("| a | b |\n| --- | --- |") == ["| a | b |"]
    assert tables.without_rows(page.format("| one | two |")) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", tables.TABLES)
def test_every_printed_table_has_rows(name: str) -> None:
    printed = tables.TABLES[name]()
    assert printed.strip()
    assert tables.without_rows(printed) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_no_page_has_a_table_without_rows(path: Path) -> None:
    assert tables.without_rows(path.read_text(encoding="utf-8")) == []


def test_the_table_of_variables_has_every_variable_of_the_adr() -> None:
    named = {MASTER, FAIL_AS_VETO, MAX_CONSULTS_VARIABLE, FORCE_ON, *ROLE_SWITCHES.values()}
    named |= {f"HYDRAFLOW_{scope}_{who}_MODEL" for scope in SCOPES for who in ("ADVISOR", "EXECUTOR")}
    named |= {surface_switch(surface) for surface in Surface}
    cells = [line.split(" | ")[0] for line in tables.switches().splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(cells))) == sorted(named)


# --- links -----------------------------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    titles = re.findall(r"^#{1,6} (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def broken_links(path: Path) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        aim = (path.parent / name).resolve() if name else path
        if not aim.exists() or (anchor and anchor not in anchors(aim)):
            yield target


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_no_link_leads_nowhere(path: Path) -> None:
    assert list(broken_links(path)) == []


def test_every_decision_is_reachable_from_the_readme() -> None:
    seen, ahead = set(), [ROOT / "README.md"]
    while ahead:
        path = ahead.pop()
        if path in seen or path.suffix != ".md":
            continue
        seen.add(path)
        targets = re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", prose(path))
        ahead += [(path.parent / target).resolve() for target in targets]
    assert [shown(path) for path in DOCUMENTS if path not in seen] == []


# --- commands --------------------------------------------------------------------------------------------------------


def wrong_words(words: list[str]) -> list[str]:
    """What of a command's words the command line does not know."""
    command: click.Command = group
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.commands.get(rest[0])
        if found is None:
            return rest[:1]
        command = found
        rest.pop(0)
    known = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
    given = [word.partition("=")[0] for word in rest if word.startswith("-")]
    return [word for word in given if word not in known]


def commands(path: Path) -> list[str]:
    """The words after each ``review-advisor`` in a document's code."""
    return [found for line in code(path) for found in COMMAND.findall(line)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_every_command_in_a_document_exists(path: Path) -> None:
    assert [words for words in commands(path) if wrong_words(words.split())] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_every_option_named_in_a_document_is_ours_or_the_clis(path: Path) -> None:
    ours = {option for command in every_command(group) for parameter in command.params for option in parameter.opts}
    ours |= {"--help"}
    theirs = (ROOT / "src/review_advisor/agents/claude_argv.py").read_text(encoding="utf-8")
    tools = "\n".join(tool.read_text(encoding="utf-8") for tool in (ROOT / "tools").glob("*.py"))
    named = {word.partition("=")[0] for line in code(path) for word in re.findall(r"^(--[a-z][\w-]*)", line)}
    assert sorted(word for word in named - ours if f'"{word}"' not in theirs + tools) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_every_setting_named_in_a_document_exists(path: Path) -> None:
    """A key of a table of the configuration, such as ``budget.max_usd``; keys without a table may be anything else."""
    settings = set(re.findall(r"^\| `([\w.]+)` \|", tables.config(), re.MULTILINE))
    of_tables = "|".join(sorted({key.partition(".")[0] for key in settings if "." in key}))
    named = {name for span in code(path) for name in re.findall(rf"^((?:{of_tables})\.[a-z_]+)\b", span)}
    assert sorted(named - settings) == []


def every_command(command: click.Command) -> Iterator[click.Command]:
    yield command
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from every_command(inner)


@pytest.mark.parametrize(
    "words", ["publish --outcome o.json", "review --publish", "config print", "review --json --wrong=1"]
)
def test_a_command_that_does_not_exist_is_noticed(words: str) -> None:
    assert wrong_words(words.split())


def test_the_readme_shows_commands() -> None:
    assert any(words.split()[:1] == ["review"] for words in commands(ROOT / "README.md"))


def test_each_claim_about_another_bot_can_be_checked() -> None:
    """A cell links to a public page or to a line of public source, or says that nothing is documented."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    head, *table = rows(text.partition("\n## How it compares\n")[2].partition("\n## ")[0])
    cells = {(row[0], bot): cell for row in table for bot, cell in zip(head[2:], row[2:], strict=True)}
    assert cells
    link = re.compile(r"\]\(https://[\w./#@-]+\)")
    assert [place for place, cell in cells.items() if cell != "not documented" and not link.search(cell)] == []
    sources = re.findall(r"https://github\.com/[^)\s]+/blob/([^/]+)/", text)
    assert sources
    assert [name for name in sources if not re.fullmatch(r"[0-9a-f]{40}|v[\d.]+", name)] == []


def test_every_verb_is_documented() -> None:
    named = {words.split()[0] for path in DOCUMENTS for words in commands(path) if words.split()}
    assert sorted(group.commands.keys() - named) == []


# --- records, tests and defects ---------------------------------------------------------------------------------------


def test_our_own_records_pass_the_check_that_the_bot_makes() -> None:
    records = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    assert records
    faults = {shown(path): structure_faults(path.read_text(encoding="utf-8")) for path in records}
    assert {name: found for name, found in faults.items() if found} == {}


@cache
def written_tests() -> str:
    """The text of all tests."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py")))


@cache
def names_of_tests() -> frozenset[str]:
    """Every test and every class of tests, wherever it stands."""
    return frozenset(re.findall(r"^\s*(?:def|class) (test_\w+|Test\w+)", written_tests(), re.MULTILINE))


@pytest.mark.parametrize("path", DOCUMENTS, ids=shown)
def test_every_test_that_a_document_names_exists(path: Path) -> None:
    """By its name alone: a test may move."""
    named = re.findall(r"`(?:(Test\w+)::)?(test_\w+)`|`(Test\w+)`", path.read_text(encoding="utf-8"))
    assert sorted({name for names in named for name in names if name} - names_of_tests()) == []


def test_every_known_defect_has_a_test_that_bears_its_number() -> None:
    """``D16`` ends the name of a test, ``2.103`` stands in its docstring."""
    page = (ROOT / "docs" / "development" / "defects.md").read_text(encoding="utf-8")
    numbers = re.findall(r"^\| (D\d+|\d\.\d+) \|", page, re.MULTILINE)
    assert numbers
    gone = [number for number in numbers if not re.search(mark_of_defect(number), written_tests())]
    assert gone == []


def mark_of_defect(number: str) -> str:
    """An expression that finds the tests of a defect."""
    return rf"\bdef test_\w*_{number.lower()}(?:_d\d+)*\(" if number[0] == "D" else rf"Defect {re.escape(number)}\b"


FIGURES = ("93%", "93 %", "8-12%", "8 to 12 %", "91.0", "~15%", "15-30%", "11800", "11.8k")
"""What advisor-pattern-v2 says of itself: it contradicts itself, and nobody measured it here."""


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"], ids=shown)
def test_no_page_repeats_a_figure_that_nobody_measured_here(page: Path) -> None:
    """Defect 0.98: two tables of the pack give one figure two values. Ours come from commands."""
    measured = page.name == "benchmarks.md"
    text = page.read_text(encoding="utf-8")
    assert measured or [figure for figure in FIGURES if figure in text] == []


def rows(text: str) -> list[list[str]]:
    """The cells of every table row of a document."""
    lines = [line for line in text.splitlines() if line.startswith("|") and not re.match(r"[|\s:-]+$", line)]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


# --- the rest --------------------------------------------------------------------------------------------------------


def test_the_advisors_definition_is_the_same_in_the_checkout_and_in_the_package() -> None:
    name = "hydraflow-review-advisor.md"
    ours, shipped = ROOT / ".claude" / "agents" / name, ROOT / "src" / "review_advisor" / "agents" / name
    assert ours.read_bytes() == shipped.read_bytes()


@pytest.mark.every_case
def test_the_picture_shows_what_the_demo_says_today() -> None:
    """However its lines are broken, and whatever its durations."""
    drawn, said = (
        re.sub(r"\b\d+(?:\.\d+)? s\b", "", " ".join(lines)).split()
        for lines in (picture.drawn(), picture.demonstration())
    )
    assert drawn == said, "run tools/picture.py"


def test_the_picture_fetches_nothing_and_tells_nothing_of_the_machine() -> None:
    drawn = (ROOT / "docs" / "images" / "demo.svg").read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", drawn))
    assert addresses <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
    assert "@font-face" not in drawn
    assert "@import" not in drawn
