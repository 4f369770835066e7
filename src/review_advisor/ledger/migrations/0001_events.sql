-- The truth: what happened, in order. Everything else in the ledger is a reading of it.

CREATE TABLE chains (
    id INTEGER PRIMARY KEY,           -- the moment of the first event, in microseconds since 1970 (UTC); unique
    run_id TEXT NOT NULL UNIQUE,
    events INTEGER NOT NULL DEFAULT 0,
    last_hash TEXT NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000'
);

CREATE TABLE events (
    chain INTEGER NOT NULL REFERENCES chains (id),
    position INTEGER NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    event NOT NULL,                   -- canonical JSON: TEXT, or a BLOB that zlib unpacks to it
    PRIMARY KEY (chain, position)
);

CREATE TRIGGER events_follow_one_another BEFORE INSERT ON events
WHEN NOT EXISTS (
    SELECT 1 FROM chains WHERE id = NEW.chain AND events = NEW.position AND last_hash = NEW.previous
)
BEGIN
    SELECT RAISE(ABORT, 'an event does not follow the last one of its run');
END;

CREATE TRIGGER chains_grow AFTER INSERT ON events
BEGIN
    UPDATE chains SET events = NEW.position + 1, last_hash = NEW.hash WHERE id = NEW.chain;
END;

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are only ever added');
END;

CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are only ever added');
END;

CREATE TRIGGER chains_are_never_deleted BEFORE DELETE ON chains
BEGIN
    SELECT RAISE(ABORT, 'runs are only ever added');
END;

CREATE TRIGGER chains_never_shrink BEFORE UPDATE ON chains
WHEN NEW.id <> OLD.id OR NEW.run_id <> OLD.run_id OR NEW.events <> OLD.events + 1
BEGIN
    SELECT RAISE(ABORT, 'a run only ever grows');
END;
