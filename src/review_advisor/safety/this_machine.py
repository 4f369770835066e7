"""Which host names are this machine."""

from __future__ import annotations

import re

_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}")


def is_this_machine(host: str) -> bool:
    """Whether a host, in lower case and without its port, can be nothing but this machine."""
    return _LOOPBACK.fullmatch(host) is not None
