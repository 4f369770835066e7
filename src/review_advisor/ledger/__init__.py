"""The store of events and its readings: rows, queries, KPIs, telemetry, artefacts, dashboard."""
