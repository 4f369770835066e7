"""The settings in effect, as ``config show`` prints them."""

from __future__ import annotations

import json
from typing import Any

from review_advisor.app.settings import Config, Settings
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.policy.switches import (
    FAIL_AS_VETO,
    FORCE_ON,
    MASTER,
    MAX_CONSULTS_VARIABLE,
    ROLE_SWITCHES,
    surface_switch,
)


def _shown(config: Config, settings: Settings) -> dict[str, Any]:
    switches, critical = settings.switches, settings.rules.critical_paths
    return {
        "config": config.model_dump(mode="json") | {"critical_paths": list(critical.globs or critical.names)},
        "critical": {"words": list(critical.words)},
        "switches": {
            MASTER: switches.master,
            **{name: switches.roles[role] for role, name in ROLE_SWITCHES.items()},
            **{surface_switch(surface): switches.surfaces[surface] for surface in Surface},
            FAIL_AS_VETO: switches.fail_as_veto,
            FORCE_ON: switches.force_pre_flight,
            MAX_CONSULTS_VARIABLE: switches.max_consults,
        },
        "models": {
            surface.value: {
                "executor": switches.executor_models[surface],
                "advisor": switches.advisor_models[surface],
            }
            for surface in Surface
        },
    }


def settings_json(config: Config, settings: Settings) -> str:
    """The effective settings as JSON."""
    return json.dumps(_shown(config, settings), indent=2) + "\n"


def settings_text(config: Config, settings: Settings, origin: str | None) -> str:
    """The effective settings for a person, one a line."""
    shown = _shown(config, settings)
    lines = [f"from {origin or 'the defaults (no configuration file)'} and the environment"]
    for section, values in shown.items():
        lines += ["", f"[{section}]"]
        for key, value in values.items():
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"
