"""The child's environment: an allow-list. Pure: the harness's environment in, the child's out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from review_advisor.adapters.claude.limits import DEFAULT_LIMITS, Limits

# Without these the CLI inlines files that a pasted diff mentions, runs consults in the background,
# swaps the model after a refusal, and talks to more than the model's API.
_SWITCHES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_FORK_SUBAGENT": "0",
    "CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_ENABLE_BYTE_WATCHDOG": "1",
}

_BY_DESCRIPTOR = {
    "ANTHROPIC_API_KEY": "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
    "CLAUDE_CODE_OAUTH_TOKEN": "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
}
_FIRST_PARTY = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
_CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": (
        "CLAUDE_CODE_USE_BEDROCK",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_BEARER_TOKEN_BEDROCK",
        "AWS_PROFILE",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_ROLE_ARN",
        "AWS_ROLE_SESSION_NAME",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "ANTHROPIC_BEDROCK_BASE_URL",
    ),
    "CLAUDE_CODE_USE_VERTEX": (
        "CLAUDE_CODE_USE_VERTEX",
        "CLOUD_ML_REGION",
        "ANTHROPIC_VERTEX_PROJECT_ID",
        "ANTHROPIC_VERTEX_BASE_URL",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ),
}
_MODEL_ALIASES = tuple(f"ANTHROPIC_DEFAULT_{family}_MODEL" for family in ("OPUS", "SONNET", "HAIKU", "FABLE"))
_NETWORK = (
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class ChildEnvironment:
    """``variables`` as they are; ``by_descriptor`` maps a variable to the secret its file descriptor will carry."""

    variables: dict[str, str]
    by_descriptor: dict[str, str]


def child_environment(
    environ: Mapping[str, str], home: Path, config_dir: Path, tmp_dir: Path, limits: Limits = DEFAULT_LIMITS
) -> ChildEnvironment:
    """What the CLI may know: how to run, and the one model credential. No forge token, nothing of a parent CLI.

    Only one way to the model is passed on: a cloud if one is switched on, else the API key, else the OAuth
    token. An API key or OAuth token is never among ``variables``, which hooks inherit.
    """
    variables = {
        **_SWITCHES,
        "PATH": absolute_path_entries(environ.get("PATH", "")) or _FALLBACK_PATH,
        "LANG": environ.get("LANG") or "C.UTF-8",
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(config_dir),
        "CLAUDE_CODE_TMPDIR": str(tmp_dir),
        "TMPDIR": str(tmp_dir),
        "CLAUDE_CODE_MAX_RETRIES": str(limits.api_retries),
        "API_TIMEOUT_MS": str(limits.request_timeout_ms),
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": str(limits.stream_idle_timeout_ms),
    }
    clouds = [names for switch, names in _CLOUDS.items() if _on(environ, switch)]
    named = [name for names in clouds for name in names] if clouds else list(_FIRST_PARTY)
    passed_on = {name: environ[name] for name in (*named, *_MODEL_ALIASES, *_NETWORK) if environ.get(name)}
    secret = next((name for name in _BY_DESCRIPTOR if environ.get(name)), None) if not clouds else None
    by_descriptor = {_BY_DESCRIPTOR[secret]: environ[secret].strip()} if secret else {}
    return ChildEnvironment({**variables, **passed_on}, by_descriptor)


def credential_present(environ: Mapping[str, str]) -> bool:
    """Whether any way to a model is configured. Says nothing about whether it works."""
    names = (*_BY_DESCRIPTOR, "ANTHROPIC_AUTH_TOKEN")
    return any(environ.get(name) for name in names) or any(_on(environ, switch) for switch in _CLOUDS)


def absolute_path_entries(path: str) -> str:
    """``PATH`` without relative and empty entries: those would run the checkout's own ``git``."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).is_absolute())


def _on(environ: Mapping[str, str], switch: str) -> bool:
    return environ.get(switch, "").strip().lower() in {"1", "true", "yes", "on"}
