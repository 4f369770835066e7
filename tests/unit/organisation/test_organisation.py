"""Repositories by team, and authors by group, as a file tells them."""

from __future__ import annotations

import pytest

from review_advisor.ledger.organisation import NO_ORGANISATION, OTHERS, OrganisationError, parse_organisation

FILE = """
repositories = ["octo/tools", "octo/pay"]

[teams]
payments = ["octo/pay", "octo/bank"]

[author-groups]
staff = ["Mona", "hubot"]
bots = ["dependabot[bot]"]

[renamed]
"octo/Old-Bank" = "octo/bank"
"""


def test_names_count_in_any_spelling_and_who_is_in_none_is_with_the_others() -> None:
    found = parse_organisation(FILE, "The file")
    assert found.repositories == ("octo/tools", "octo/pay", "octo/bank")
    assert [found.team_of(each) for each in ("OCTO/pay", "octo/old-bank", "octo/tools", None)] == [
        "payments",
        "payments",
        OTHERS,
        "no repository",
    ]
    assert [found.group_of(each) for each in ("mona", "dependabot[bot]", "eve", "", None)] == [
        "staff",
        "bots",
        OTHERS,
        "author not recorded",
        "author not recorded",
    ]
    assert (found.smallest_group, NO_ORGANISATION.team_of("octo/pay")) == (3, OTHERS)


@pytest.mark.parametrize(
    "text, why",
    [
        ("[teams", "The file is not valid TOML: "),
        ("team = 1", "The file is wrong at team: is not a known key."),
        ('repositories = ["octo"]', "The file is wrong at repositories.0: should match the pattern"),
        ('[teams]\na = ["octo/x"]\nb = ["OCTO/x"]', "The file names OCTO/x in more than one team: name it in one."),
        ('[author-groups]\na = ["mona"]\nb = ["Mona"]', "The file names Mona in more than one group: name it in one."),
        ('[author-groups]\na = ["mo na"]', "The file is wrong at author-groups.a.0: should match the pattern"),
        ('[author_groups]\na = ["mona"]', "The file is wrong at author_groups: is not a known key"),
        ("[author-groups]\nothers = []", "The file has a group others, which is a row already: name it otherwise."),
        ('[author-groups]\n"Author not recorded" = []', "The file has a group Author not recorded, which is a row"),
        ('[teams]\n"no repository" = []', "The file has a team no repository, which is a row already"),
        ("smallest-group = 0", "The file is wrong at smallest-group: should be at least 1."),
        ('[teams]\n"a\\u001b[31m" = []', "The file is wrong at teams.a\\x1b[31m.[key]: should match the pattern"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(text: str, why: str) -> None:
    with pytest.raises(OrganisationError) as refused:
        parse_organisation(text, "The file")
    assert str(refused.value).startswith(why)
    assert refused.value.args[0].isprintable()
