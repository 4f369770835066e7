"""Patches as text: parsing them, splitting them by file, and rendering a diff for an agent."""
