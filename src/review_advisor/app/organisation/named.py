"""The organisation that a user names."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.user_file import required_file
from review_advisor.core.organisation.organisation import NO_ORGANISATION, Organisation, OrganisationError
from review_advisor.core.organisation.organisation_file import parse_organisation

_LARGEST = 10_000_000


def read_organisation(path: Path | None) -> Organisation:
    """The organisation in a file; nobody's without one. Raises ``OrganisationError``."""
    if path is None:
        return NO_ORGANISATION
    name = f"The organisation {path}"
    try:
        return parse_organisation(required_file(path, _LARGEST, OrganisationError, name).decode(), name)
    except UnicodeDecodeError as error:
        raise OrganisationError(f"{name} is not valid TOML: {error}.") from None
