-- What the CLI said of a single consult. Like every reading, the rows are made anew from the events.

DROP TABLE consults;

CREATE TABLE consults (
    chain INTEGER NOT NULL REFERENCES chains (id),
    number INTEGER NOT NULL,
    surface TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    status TEXT NOT NULL,
    urgency TEXT NOT NULL,
    question TEXT NOT NULL,
    action TEXT NOT NULL,             -- what the advisor answered; '' without an answer
    stop_signal INTEGER NOT NULL,
    confidence REAL,
    reason TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens INTEGER,                   -- in, out and of the cache; NULL: the CLI did not say, or not of all requests
    duration_ms INTEGER,              -- NULL: the CLI did not say
    PRIMARY KEY (chain, number)
) WITHOUT ROWID;
