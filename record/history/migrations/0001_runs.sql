-- One schema for SQLite and PostgreSQL: only types and statements that both have.
-- Times are microseconds since 1970 in UTC, truth values 0 or 1, rates tokens/s,
-- latencies seconds. What is undefined is NULL, never 0.

CREATE TABLE runs (
  id          TEXT PRIMARY KEY,
  started     BIGINT NOT NULL,
  tool        TEXT NOT NULL,
  target      TEXT NOT NULL,
  model       TEXT NOT NULL,
  shape       TEXT NOT NULL, -- what was asked of the endpoint: runs of one shape can be compared
  label       TEXT NOT NULL,
  status      TEXT NOT NULL,
  failure     TEXT NOT NULL, -- why there is no curve; empty = there is one
  verdict     TEXT NOT NULL,
  knee        DOUBLE PRECISION,
  knee_lo     DOUBLE PRECISION,
  knee_hi     DOUBLE PRECISION,
  plateau     DOUBLE PRECISION,
  plateau_lo  DOUBLE PRECISION,
  plateau_hi  DOUBLE PRECISION,
  recommended BIGINT,
  baseline    SMALLINT NOT NULL DEFAULT 0
);

-- The whole curve.json, apart from the rows that lists and trends read.
CREATE TABLE documents (
  run_id   TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  document TEXT NOT NULL
);

CREATE INDEX runs_started ON runs (started, id);
CREATE INDEX runs_series ON runs (target, model, shape, started, id);

CREATE TABLE steps (
  run_id      TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  concurrency BIGINT NOT NULL,
  valid       SMALLINT NOT NULL,
  rate        DOUBLE PRECISION,
  rate_lo     DOUBLE PRECISION,
  rate_hi     DOUBLE PRECISION,
  ttft_p50    DOUBLE PRECISION,
  ttft_p95    DOUBLE PRECISION,
  tpot_p50    DOUBLE PRECISION,
  tpot_p95    DOUBLE PRECISION,
  error_rate  DOUBLE PRECISION,
  PRIMARY KEY (run_id, concurrency)
);

CREATE TABLE measurements (
  run_id      TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  concurrency BIGINT NOT NULL,
  number      BIGINT NOT NULL, -- in the order measured, from 0
  rate        DOUBLE PRECISION,
  PRIMARY KEY (run_id, concurrency, number)
);

CREATE TABLE knees (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  method TEXT NOT NULL,
  knee   DOUBLE PRECISION,
  lo     DOUBLE PRECISION,
  hi     DOUBLE PRECISION,
  PRIMARY KEY (run_id, method)
);

CREATE TABLE config (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  name   TEXT NOT NULL,
  value  TEXT NOT NULL,
  PRIMARY KEY (run_id, name)
);

CREATE TABLE labels (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  label  TEXT NOT NULL,
  PRIMARY KEY (run_id, label)
);

CREATE INDEX labels_label ON labels (label);
