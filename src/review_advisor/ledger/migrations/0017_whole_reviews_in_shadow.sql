-- What a whole review in shadow came to. The rows are read anew from the events.

ALTER TABLE shadows ADD COLUMN outcome TEXT NOT NULL DEFAULT '';      -- approved, changes_requested, escalated; '' of a part
ALTER TABLE shadows ADD COLUMN found INTEGER NOT NULL DEFAULT 0;      -- grave findings that the real review did not have
ALTER TABLE shadows ADD COLUMN besides TEXT NOT NULL DEFAULT '';      -- the first of these, a line each
