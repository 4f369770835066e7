"""The advisor that act 017 declares, in its own words."""

RISK_ANALYST = """\
[
  {
    "type": "advisor",
    "id": "riskAnalyst",
    "on": "request",
    "scopes": ["†state.deploymentHistory"],
    "role": "Analyze risks and Vote for deployment actions.",
    "schema": {
      "type": "object",
      "properties": {
        "thought": { "type": "string", "description": "Risk assessment of the deployment." }
      },
      "required": ["thought"]
    }
  }
]
"""
