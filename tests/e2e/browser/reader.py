"""Somebody who reads the dashboard in a real browser, and notices everything that must never happen."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

FLAGS = [
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", *(["--no-sandbox"] if os.geteuid() == 0 else [])),
]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 480, "height": 900}


class Reader:
    """A fresh profile of the browser, and one page of it.

    ``troubles`` are errors, warnings, dialogs, and requests that leave the place where the dashboard lies.
    """

    def __init__(self, chromium: Any) -> None:
        self._chromium = chromium
        self._context: Any = None
        self.page: Any = None
        self.troubles: list[str] = []
        self._place = ""

    def opens(
        self, place: str, fragment: str = "", *, scheme: str = "light", size: dict[str, int] | None = None
    ) -> Any:
        """Open a dashboard in a new profile: ``place`` is its folder's address. The page, once it shows something."""
        self.leaves()
        self._place = place
        self._context = self._chromium.new_context(color_scheme=scheme, viewport=size or WIDE, reduced_motion="reduce")
        self.page = self._context.new_page()
        self.page.on("console", lambda message: self._note(f"console {message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self._note(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("popup", lambda _: self._note("another window"))
        self._context.on("request", lambda request: self._look_at(request.url))
        self.goes_to(fragment)
        return self.page

    def goes_to(self, fragment: str) -> None:
        """Follow a link into the dashboard, as from a message."""
        self.page.goto(f"{self._place}/index.html{fragment}")
        self.page.wait_for_selector("h1")

    def heading(self) -> str:
        """What the page is called."""
        return str(self.page.locator("h1").inner_text())

    def finds_barriers(self) -> list[str]:
        """What axe-core says keeps people from using the page: the rule, and the first place."""
        self.page.evaluate(_axe())
        found = self.page.evaluate("axe.run(document, {preload: false, resultTypes: ['violations']})")
        return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]

    def leaves(self) -> None:
        """Close the profile."""
        if self._context is not None:
            self._context.close()
            self._context = None

    def leave(self) -> None:
        """Close everything; nothing may have happened that must not."""
        self.leaves()
        assert not self.troubles, "\n".join(self.troubles)

    def _note(self, trouble: str) -> None:
        self.troubles.append(trouble)

    def _dialog(self, dialog: Any) -> None:
        self._note(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _look_at(self, address: str) -> None:
        if not address.startswith(f"{self._place}/"):
            self._note(f"asks for {address}")


@cache
def _axe() -> str:
    home = Path(os.environ["REVIEW_ADVISOR_E2E_AXE"])
    return (home / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
