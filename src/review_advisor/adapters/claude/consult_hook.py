"""The consult hook: it asks the harness, and prints what the harness decides. Standard library only, one file.

The CLI runs it as ``python -I consult_hook.py SECONDS`` around every use of the Agent tool, with the event on stdin.
The harness listens beside the call's temporary folder, the one thing that the environment names. Anything that goes
wrong ends in a non-zero exit code, which the hook's shell line turns into a no. So does the alarm: it rings before the
CLI's own timeout, which would let the consult through.
"""

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
