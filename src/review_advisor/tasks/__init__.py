"""Tasks of an executor with its advisor: run, brief council, release readiness, retro."""
