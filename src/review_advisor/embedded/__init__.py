"""The embedded agent: an executable that speaks the ``claude -p`` contract and holds no model.

It answers from a script (``--script FILE``) or by static checks on the changed lines, and says so.
"""
