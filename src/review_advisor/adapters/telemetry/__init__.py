"""Telemetry of a review that is over: nine metrics and a trace, sent by OTLP if the environment asks for it."""
