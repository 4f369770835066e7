-- Parts of a review that ran in shadow, beside the reviews: each is a chain of its own events.

CREATE TABLE shadows (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    of_run TEXT NOT NULL,             -- the review's
    shadow TEXT NOT NULL,             -- its id in the configuration
    setup TEXT NOT NULL,
    repository TEXT COLLATE NOCASE,
    pull_request INTEGER,
    status TEXT NOT NULL,             -- unfinished, finished, capped, stopped
    decision TEXT NOT NULL,           -- would_veto, would_pass, differs, lost, agreed
    missed INTEGER NOT NULL,          -- grave findings that a shadow executor did not have
    calls INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,        -- of these: calls that reported no cost
    cost_usd REAL NOT NULL
);
