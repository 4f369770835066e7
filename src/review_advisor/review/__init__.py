"""The review pipeline of ADR-0059. It sequences the steps; every decision is a function of the core."""
