"""The committed cut of GitHub's descriptions is what the tool cuts, and is whole."""

import json
from pathlib import Path

import pytest
from cut_github_description import cut_graphql, cut_rest
from graphql import build_schema, validate_schema
from openapi_spec_validator import OpenAPIV30SpecValidator

DATA = Path(__file__).parents[1] / "adapters/github/data"


def test_nothing_is_left_to_cut_in_what_rest_says() -> None:
    committed = json.loads((DATA / "rest.json").read_text(encoding="utf-8"))

    assert cut_rest(committed) == committed


def test_nothing_is_left_to_cut_in_what_graphql_says() -> None:
    committed = (DATA / "schema.graphql").read_text(encoding="utf-8")

    assert cut_graphql(committed) == committed


@pytest.mark.every_case
def test_the_cuts_are_whole() -> None:
    OpenAPIV30SpecValidator(json.loads((DATA / "rest.json").read_text(encoding="utf-8"))).validate()

    assert validate_schema(build_schema((DATA / "schema.graphql").read_text(encoding="utf-8"))) == []


def test_whose_words_they_are_stands_beside_them() -> None:
    told = (DATA / "README.md").read_text(encoding="utf-8")

    assert "@octokit/openapi" in told
    assert "Copyright (c) 2020 Octokit contributors" in told
    assert "Copyright (c) GitHub 2025 - Licensed as MIT." in told
