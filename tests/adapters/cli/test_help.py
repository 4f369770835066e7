"""What `--help` shows: to people the verbs and options that they use, and with `--all` those of CI, too."""

from __future__ import annotations

import re

from tests.adapters.command_line import Terminal


def sections(text: str) -> list[str]:
    return re.findall(r"^([A-Z][a-zA-Z ]+):$", text, re.MULTILINE)


def test_the_verbs_stand_in_groups_and_those_of_ci_only_where_all_is_asked_for(terminal: Terminal) -> None:
    groups = ["Review", "Set up", "Look back", "Try it out", "Tasks"]
    shown, everything = terminal.run("--help").out, terminal.run("--help", "--all").out
    assert sections(shown) == ["Options", *groups]
    assert sections(everything) == ["Options", *groups, "In CI"]
    assert "  publish " not in shown
    assert "  publish " in everything


def test_options_that_only_ci_uses_are_shown_where_all_is_asked_for_and_work_all_the_same(terminal: Terminal) -> None:
    assert "--settle" not in terminal.run("review", "--help").out
    assert "--settle" in terminal.run("review", "--help", "--all").out
    assert "No such option" not in terminal.run("review", "--settle", "1", "--range", "HEAD..HEAD").err


def test_all_alone_is_no_option(terminal: Terminal) -> None:
    assert terminal.run("--all").code == 2
