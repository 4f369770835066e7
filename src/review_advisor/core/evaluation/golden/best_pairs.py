"""The pairs of two lists that are worth most together (Kuhn and Munkres, with potentials)."""

from __future__ import annotations

from collections.abc import Mapping


def best_pairs(rows: int, columns: int, worth: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Each row and each column in one pair at most. ``worth`` holds the pairs that may be; all are above 0."""
    every = columns + rows
    """A column of its own for each row, which is worth nothing: the row stays alone."""
    row_price, column_price = [0] * (rows + 1), [0] * (every + 1)
    holder = [0] * (every + 1)
    for row in range(1, rows + 1):
        holder[0] = row
        _place(holder, row_price, column_price, worth)
    pairs = [(holder[column] - 1, column - 1) for column in range(1, columns + 1) if holder[column]]
    return sorted(pair for pair in pairs if pair in worth)


def _place(
    holder: list[int], row_price: list[int], column_price: list[int], worth: Mapping[tuple[int, int], int]
) -> None:
    """Give the row that ``holder[0]`` names a column, along the cheapest path of rows that give way."""
    every = len(holder)
    cheapest: list[int | None] = [None] * every
    came_from = [0] * every
    done = [False] * every
    column = 0
    while holder[column]:
        done[column] = True
        row, step, following = holder[column], None, 0
        for other in range(1, every):
            if done[other]:
                continue
            cost = -worth.get((row - 1, other - 1), 0) - row_price[row] - column_price[other]
            known = cheapest[other]
            if known is None or cost < known:
                cheapest[other], came_from[other], known = cost, column, cost
            if step is None or known < step:
                step, following = known, other
        for other in range(every):
            known = cheapest[other]
            if done[other]:
                row_price[holder[other]] += step or 0
                column_price[other] -= step or 0
            elif known is not None:
                cheapest[other] = known - (step or 0)
        column = following
    while column:
        holder[column] = holder[came_from[column]]
        column = came_from[column]
