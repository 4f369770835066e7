"""SARIF 2.1.0 as OASIS states it (see ``data/README.md``), and GitHub's own rules on top of it."""

import functools
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator

SCHEMA = Path(__file__).parent / "data" / "sarif-schema-2.1.0.json"


@functools.cache
def _standard() -> Draft4Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft4Validator.check_schema(schema)
    return Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)


def offences(text: str) -> list[str]:
    """What a SARIF file does against the standard, and what GitHub would not show of it."""
    log = json.loads(text)
    found = [f"{error.json_path}: {error.message}" for error in _standard().iter_errors(log)]
    return found or [offence for run in log["runs"] for offence in _unshown(run)]


def _unshown(run: dict[str, Any]) -> list[str]:
    """The standard leaves to prose that an index hits its rule; GitHub wants relative addresses and a fingerprint."""
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    found = []
    for number, result in enumerate(run["results"]):
        (location,) = result["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        region = location["physicalLocation"].get("region", {"startLine": 1, "endLine": 1})
        against = {
            "its index is another rule's": rules[result["ruleIndex"]] != result["ruleId"],
            "its address leads out of the repository": uri.startswith("/")
            or bool({":", "?", "#", " ", "\\"} & set(uri)),
            "its region ends before it begins": region["endLine"] < region["startLine"],
            "it has no fingerprint": not result["partialFingerprints"],
            "it says nothing": not result["message"]["text"],
        }
        found += [f"result {number}: {words}" for words, holds in against.items() if holds]
    return found
