"""Checkers for other languages than Python: programs that may be installed beside this package."""
