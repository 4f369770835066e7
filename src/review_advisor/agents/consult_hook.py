"""The consult hook: standard library only, one file."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

SOCKET = "s"
"""The harness's socket, in the call's own folder. A socket's address has room for about a hundred characters."""


_CHUNK = 65_536


def main(argv: list[str]) -> int:
    """Hand one event to the harness, and print its decision on a consult."""
    signal.alarm(int(argv[0]))
    event = sys.stdin.buffer.read()
    os.chdir(os.environ["TMPDIR"])
    with socket.socket(socket.AF_UNIX) as harness:
        harness.connect(f"../{SOCKET}")
        harness.sendall(event)
        harness.shutdown(socket.SHUT_WR)
        answer = json.loads(b"".join(iter(lambda: harness.recv(_CHUNK), b"")))
    if json.loads(event)["hook_event_name"] == "PreToolUse":
        if answer["hookSpecificOutput"]["permissionDecision"] not in ("allow", "deny"):
            raise ValueError("the harness has not decided")
        sys.stdout.write(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
