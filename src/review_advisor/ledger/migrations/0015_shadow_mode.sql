-- The reviews in shadow mode: `rollup --shadow` says what they would have done to merges.

CREATE TABLE shadow_mode (
    chain INTEGER PRIMARY KEY REFERENCES chains (id),
    exit_code INTEGER                 -- what it would have concluded: 0, 10, 11 or 12; NULL while unfinished
);
