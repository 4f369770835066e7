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

# In the CLI's own order. Of two it would take the first, or send both: a key and a gateway's token. The token has no
# descriptor: the CLI reads it from its environment, and its children, hooks among them, inherit it.
_CREDENTIALS = {
    "ANTHROPIC_AUTH_TOKEN": None,
    "ANTHROPIC_API_KEY": "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
    "CLAUDE_CODE_OAUTH_TOKEN": "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
}
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
_CLOUD_SECRETS = frozenset({"AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK"})
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
    environ: Mapping[str, str],
    home: Path,
    config_dir: Path,
    tmp_dir: Path,
    limits: Limits = DEFAULT_LIMITS,
    *,
    cached: bool = True,
) -> ChildEnvironment:
    """What the CLI may know: how to run, and the one model credential. No forge token, nothing of a parent CLI.

    Only one way to the model is passed on: a cloud if one is switched on, else a gateway's token, else the API key,
    else the OAuth token. An API key or OAuth token is never among ``variables``, which hooks inherit. Without
    ``cached`` nothing is put into the cache of prompts: writing costs a quarter more, which one turn never earns back.
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
    if not cached:
        variables["DISABLE_PROMPT_CACHING"] = "1"
    cloud = _cloud(environ)
    named = (*(cloud or ("ANTHROPIC_BASE_URL",)), *_MODEL_ALIASES, *_NETWORK)
    variables |= {name: environ[name] for name in named if environ.get(name)}
    credential = None if cloud else _credential(environ)
    if credential is None:
        return ChildEnvironment(variables, {})
    secret, descriptor = environ[credential].strip(), _CREDENTIALS[credential]
    if descriptor is None:
        return ChildEnvironment({**variables, credential: secret}, {})
    return ChildEnvironment(variables, {descriptor: secret})


def credential_present(environ: Mapping[str, str]) -> bool:
    """Whether any way to a model is configured. Says nothing about whether it works."""
    return _cloud(environ) is not None or _credential(environ) is not None


def credential_secret(environ: Mapping[str, str]) -> bytes:
    """What only whoever pays for the answers knows; empty where the credential is no secret of this environment.

    That is so with a cloud's profile or role: their secrets lie in files, or come from the machine.
    """
    cloud, credential = _cloud(environ), _credential(environ)
    named = [name for name in cloud if name in _CLOUD_SECRETS] if cloud else [credential] if credential else []
    found = [environ[name] for name in named if environ.get(name)]
    return "\0".join(found).encode("utf-8", "surrogateescape")


def absolute_path_entries(path: str) -> str:
    """``PATH`` without relative and empty entries: those would run the checkout's own ``git``."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).is_absolute())


def _cloud(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """The variables of the one cloud that is used."""
    on = [names for switch, names in _CLOUDS.items() if _on(environ, switch)]
    return on[0] if on else None


def _credential(environ: Mapping[str, str]) -> str | None:
    """The name of the one credential that is used without a cloud."""
    return next((name for name in _CREDENTIALS if environ.get(name, "").strip()), None)


def _on(environ: Mapping[str, str], switch: str) -> bool:
    return environ.get(switch, "").strip().lower() in {"1", "true", "yes", "on"}
