-- What a rollup adds up, beyond the columns of runs. Few runs have rows in these two tables.

-- What a run was given by an earlier, killed or stopped run of the same review: that run paid for it.
CREATE TABLE kept (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    cost_usd REAL NOT NULL,           -- as far as it was reported
    executor_tokens INTEGER NOT NULL,
    advisor_tokens INTEGER NOT NULL
);

-- What a model used within a call that this run made, where nobody reported what it cost.
CREATE TABLE unreported (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    role TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    PRIMARY KEY (chain, number, role, model)
) WITHOUT ROWID;

-- A median is the middle of an index: sorting a million runs takes seconds.
CREATE INDEX runs_by_wall ON runs (wall_ms, executor_ms, status, repository);
CREATE INDEX runs_by_executor ON runs (executor_ms, wall_ms, status, repository);
