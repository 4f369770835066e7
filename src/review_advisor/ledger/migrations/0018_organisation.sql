-- Many repositories in one ledger: who made a change, for sums of groups, and which artifacts were collected.

CREATE TABLE authors (
    id INTEGER PRIMARY KEY,
    login TEXT NOT NULL UNIQUE
);

-- Who opened the pull request; NULL of a change without one, and of runs that were recorded before events said so.
ALTER TABLE runs ADD COLUMN author INTEGER REFERENCES authors (id);

-- The only table that is not read from the events: which artifacts of which server were taken in already,
-- and of which workflow runs.
CREATE TABLE collected (
    server TEXT NOT NULL,
    artifact INTEGER NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (server, artifact)
) WITHOUT ROWID;
