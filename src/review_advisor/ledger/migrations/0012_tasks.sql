-- Tasks of `run` beside reviews: each is a chain of its own events.

CREATE TABLE tasks (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    task TEXT NOT NULL,
    status TEXT NOT NULL,
    error_mode TEXT NOT NULL,         -- none, the status, or malformed:<tag>
    executor_backend TEXT NOT NULL,
    advisor_backend TEXT NOT NULL,
    consults INTEGER NOT NULL,        -- that the advisor was asked
    guidances INTEGER NOT NULL,
    proposals INTEGER NOT NULL,
    malformed INTEGER NOT NULL,
    executor_calls INTEGER NOT NULL,
    executor_tokens INTEGER NOT NULL,
    advisor_tokens INTEGER NOT NULL,
    cost_usd REAL,                    -- as far as it was reported; NULL: by no call
    duration_ms INTEGER NOT NULL      -- of its calls
);
