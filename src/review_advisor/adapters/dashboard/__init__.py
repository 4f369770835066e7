"""The dashboard as files: a folder that opens in a browser, and a server on this machine for it."""
