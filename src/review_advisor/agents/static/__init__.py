"""The embedded agent: it speaks the `claude -p` contract and holds no model."""
