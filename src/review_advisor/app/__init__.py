"""The command line: a file for each verb, and what all verbs share at a terminal."""
