-- What ran in shadow. It says what the decision of a shadow means. The rows are read anew from the events.

ALTER TABLE shadows ADD COLUMN part TEXT NOT NULL DEFAULT '';     -- judge, executor, surface
