-- What scheduled sweeps share: who sweeps a target now, and what became of each start.

CREATE TABLE leases (
  target  TEXT PRIMARY KEY,
  holder  TEXT NOT NULL,
  expires BIGINT NOT NULL
);

CREATE TABLE starts (
  job     TEXT NOT NULL,
  due     BIGINT NOT NULL,
  host    TEXT NOT NULL,
  outcome TEXT NOT NULL, -- running, done, failed, missed, skipped
  note    TEXT NOT NULL,
  PRIMARY KEY (job, due)
);
