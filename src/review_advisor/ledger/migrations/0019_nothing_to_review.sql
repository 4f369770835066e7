-- An empty change is a status of its own: nobody approved it. The rows are read anew from the events.

DROP TABLE runs;

-- Kept narrow, because a filter may look at every row: what was said about the change stands in tables of its own.
CREATE TABLE runs (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    status TEXT NOT NULL CHECK (status IN (
        'unfinished', 'nothing_to_review', 'approved', 'changes_requested', 'escalated', 'stopped'
    )),
    repository INTEGER REFERENCES repositories (id),
    pull_request INTEGER,
    casting INTEGER NOT NULL REFERENCES castings (id),
    letters INTEGER NOT NULL,         -- which pairs of letters its title holds: most titles need not be read
    cost_usd REAL,                    -- NULL: no call reported its cost
    consults INTEGER NOT NULL DEFAULT 0,
    findings INTEGER NOT NULL DEFAULT 0,
    vetoes INTEGER NOT NULL DEFAULT 0,
    degraded INTEGER NOT NULL DEFAULT 0,
    disabled INTEGER NOT NULL DEFAULT 0,
    recovered INTEGER NOT NULL DEFAULT 0,
    exhausted INTEGER NOT NULL DEFAULT 0,
    wall_ms INTEGER,                  -- NULL while unfinished
    executor_ms INTEGER NOT NULL DEFAULT 0,      -- the executor's first attempts
    executor_tokens INTEGER NOT NULL DEFAULT 0,  -- in, out, cache read and cache write
    advisor_tokens INTEGER NOT NULL DEFAULT 0,   -- the same of the three other roles
    vetoed INTEGER NOT NULL DEFAULT 0,           -- it had a veto that was the executor's to repair
    given INTEGER NOT NULL DEFAULT 0,            -- it was given replies that an earlier run paid for
    consult_tokens INTEGER NOT NULL DEFAULT 0,   -- of the advisor's, those of consults
    executor_turns INTEGER NOT NULL DEFAULT 0,
    executor_calls INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,    -- all input
    cached_tokens INTEGER NOT NULL DEFAULT 0,    -- of it, what the cache had
    author INTEGER REFERENCES authors (id)       -- who opened the pull request; NULL without one, and in old runs
);

CREATE INDEX runs_by_pull_request ON runs (pull_request);
CREATE INDEX runs_by_wall ON runs (wall_ms, executor_ms, status, repository, given);
CREATE INDEX runs_by_executor ON runs (executor_ms, wall_ms, status, repository, given);
