"""Untrusted text and secrets, and the end of the process: signals, children, temporary folders."""
