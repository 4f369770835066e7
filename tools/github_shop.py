"""A shop whose pull requests the pictures tell of: its files, and what its reviewers say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from review_advisor.mockworld.agents import Line
from review_advisor.safety.stop import Usage

CART, REFUNDS = "shop/cart.py", "shop/refunds.py"

CART_BEFORE = '''\
"""What a customer is about to buy, and what it costs."""

from decimal import Decimal

from shop.catalogue import price_of


class Cart:
    def __init__(self) -> None:
        self.pieces: dict[str, int] = {}

    def add(self, product: str, count: int = 1) -> None:
        self.pieces[product] = self.pieces.get(product, 0) + count

    def total(self) -> Decimal:
        return sum((price_of(each) * count for each, count in self.pieces.items()), Decimal(0))
'''
CART_AFTER = '''\
"""What a customer is about to buy, and what it costs."""

from decimal import Decimal

from shop.catalogue import price_of
from shop.vouchers import VOUCHERS


class Cart:
    def __init__(self) -> None:
        self.pieces: dict[str, int] = {}
        self.share = Decimal(0)

    def add(self, product: str, count: int = 1) -> None:
        self.pieces[product] = self.pieces.get(product, 0) + count

    def redeem(self, code: str) -> None:
        """Take a voucher's share off the total."""
        self.share += VOUCHERS[code]

    def total(self) -> Decimal:
        whole = sum((price_of(each) * count for each, count in self.pieces.items()), Decimal(0))
        return whole * (1 - self.share)

    def average(self) -> Decimal:
        """What one piece costs on average."""
        return self.total() / sum(self.pieces.values())
'''
CART_MENDED = (
    CART_AFTER.replace(
        "        self.share += VOUCHERS[code]\n",
        "        if code not in self.codes:\n"
        "            self.codes.add(code)\n"
        "            self.share += VOUCHERS[code]\n",
    )
    .replace(
        "        self.share = Decimal(0)\n", "        self.share = Decimal(0)\n        self.codes: set[str] = set()\n"
    )
    .replace(
        "        return self.total() / sum(self.pieces.values())\n",
        "        count = sum(self.pieces.values())\n        return self.total() / count if count else Decimal(0)\n",
    )
)
REFUNDS_BEFORE = '''\
"""Money that goes back to customers."""

from shop.bank import send


def refund(order: str, cents: int) -> None:
    send(order, cents)
'''
REFUNDS_AFTER = '''\
"""Money that goes back to customers."""

from shop.bank import BankTimeout, send

TRIES = 3


def refund(order: str, cents: int) -> None:
    for number in range(1, TRIES + 1):
        try:
            send(order, cents)
        except BankTimeout:
            if number == TRIES:
                raise
        else:
            return
'''
BASE = {CART: CART_BEFORE, REFUNDS: REFUNDS_BEFORE, "README.md": "# The shop\n"}


@dataclass(frozen=True)
class Measured(Line):
    """A line that reports what it used: ``tokens`` in, read from the cache, and out."""

    tokens: tuple[int, int, int] = (0, 0, 0)

    @property
    def usage(self) -> Usage:
        """What the call reports to have used."""
        fresh, cached, out = self.tokens
        return Usage(input_tokens=fresh, cache_read_tokens=cached, output_tokens=out, cost_usd=self.cost_usd)


def using(line: Line, usd: float, seconds: float, *tokens: int) -> Line:
    """The same line, as a call of this price, length and number of tokens."""
    fresh, cached, out = tokens
    return Measured(line.answer, stop=line.stop, cost_usd=usd, seconds=seconds, tokens=(fresh, cached, out))


def doing(does: str, line: Line) -> Line:
    """The same report, which begins with what the change does."""
    return replace(line, answer={**(line.answer or {}), "does": does})


def remark(path: str, text: str, quote: str, **said: Any) -> dict[str, Any]:
    """A finding on the lines of ``text`` that hold ``quote``."""
    line = 1 + text[: text.index(quote)].count("\n")
    where = {"path": path, "line": line, "end_line": line + quote.count("\n"), "evidence": quote}
    return {**where, "category": "correctness", "confidence": 0.95, **said}


TWICE = remark(
    CART,
    CART_AFTER,
    "self.share += VOUCHERS[code]",
    severity="high",
    title="A voucher can be redeemed again and again",
    body="Nothing remembers which codes were used, so every further call of `redeem` with the same code takes its "
    "share off once more. After a few calls the total is zero or less. Keep the used codes in a set, and refuse a "
    "second use.",
)
EMPTY = remark(
    CART,
    CART_AFTER,
    "return self.total() / sum(self.pieces.values())",
    severity="medium",
    title="An empty cart divides by zero",
    body="`average` of a cart without pieces raises `DivisionByZero`. The page of a new customer shows such a cart.",
    suggestion="        count = sum(self.pieces.values())\n"
    "        return self.total() / count if count else Decimal(0)",
)
UNKNOWN = remark(
    CART,
    CART_AFTER,
    'def redeem(self, code: str) -> None:\n        """Take a voucher\'s share off the total."""',
    severity="low",
    title="An unknown code raises a bare KeyError",
    body="Customers type these codes. Whoever calls `redeem` has to tell a mistyped code from a bug.",
    category="errors",
    confidence=0.8,
)
AGAIN = remark(
    REFUNDS,
    REFUNDS_AFTER,
    "send(order, cents)",
    severity="low",
    title="No pause between the tries",
    body="A bank that is overloaded is asked again at once.",
    category="robustness",
    confidence=0.75,
)


def vetoed(claim: str, assessment: str, reasoning: str, direction: str | None = None) -> Line:
    """The advisor vetoes with one point against one claim."""
    point = {"executor_claim": claim, "advisor_assessment": assessment, "severity": "blocking"}
    said = {"verdict": "VETO", "reasoning": reasoning, "disagreements": [point]}
    return Line({**said, "suggested_fix_direction": direction})
