"""Reading TOML that somebody else wrote."""

from __future__ import annotations

import tomllib
from typing import Any


class TomlError(ValueError):
    """A text is not valid TOML. The message says why, as a clause without a full stop."""


def read_toml(text: str) -> dict[str, Any]:
    """The table in ``text``. Raises ``TomlError``."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(str(error)) from None
    except RecursionError:
        raise TomlError("nested too deeply") from None
    except ValueError:  # Python reads no number of thousands of digits
        raise TomlError("a number has too many digits") from None
