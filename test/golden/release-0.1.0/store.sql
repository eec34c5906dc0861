CREATE TABLE schema_version (version INTEGER PRIMARY KEY) STRICT;
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    models TEXT,
    calls_per_minute INTEGER,
    calls_at_once INTEGER,
    credits INTEGER CHECK (credits >= 0)
  , role TEXT NOT NULL DEFAULT 'operator'
    CHECK (role IN ('viewer', 'operator', 'admin')), bootstrap INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE credit_grants (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    granted_at INTEGER NOT NULL,
    tokens INTEGER NOT NULL
  ) STRICT;
CREATE TABLE credit_holds (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    held_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    holder TEXT NOT NULL
  ) STRICT;
CREATE INDEX credit_holds_by_key ON credit_holds (key_id);
CREATE INDEX credit_holds_by_lease ON credit_holds (lease_until);
CREATE INDEX credit_holds_by_holder ON credit_holds (holder);
CREATE TABLE usage_minutes (
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    minute_at INTEGER NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,
    requests INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    charged INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (key_id, minute_at)
  ) STRICT;
CREATE TABLE audit_log (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    happened_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    owner TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT,
    request_id TEXT
  ) STRICT;
CREATE INDEX audit_log_by_time ON audit_log (happened_at);
CREATE TABLE finetuned_models (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    base_model_id TEXT,
    steps INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    loss TEXT NOT NULL,
    model TEXT NOT NULL,
    freq TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    weights BLOB, named TEXT,
    PRIMARY KEY (owner, id)
  ) STRICT;
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    owner TEXT NOT NULL,
    key_id TEXT NOT NULL,
    hold_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'cancelled')),
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    lease_until INTEGER,
    lease_owner TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    timeout_seconds INTEGER NOT NULL,
    request BLOB,
    request_bytes INTEGER NOT NULL,
    result BLOB,
    error TEXT,
    expires_at INTEGER
  , step INTEGER, steps INTEGER, idempotency_key TEXT, request_digest TEXT, request_id TEXT) STRICT;
CREATE INDEX jobs_by_owner ON jobs (owner, number);
CREATE INDEX jobs_by_expiry ON jobs (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX jobs_pending ON jobs (number) WHERE status = 'pending';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE status = 'running';
CREATE INDEX jobs_in_flight ON jobs (owner, task, status, request_bytes) WHERE status IN ('pending', 'running');
CREATE INDEX usage_minutes_by_time ON usage_minutes (minute_at);
CREATE INDEX jobs_pending_by_owner ON jobs (owner, number) WHERE status = 'pending';
CREATE INDEX jobs_by_start ON jobs (owner, started_at);
CREATE UNIQUE INDEX jobs_by_idempotency_key ON jobs (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE TABLE event_reviews (
    event_id TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    record TEXT NOT NULL,
    acknowledged_at INTEGER,
    acknowledged_by TEXT,
    acknowledged_note TEXT,
    muted_at INTEGER,
    muted_by TEXT,
    muted_until INTEGER,
    muted_reason TEXT,
    labelled_at INTEGER,
    labelled_by TEXT,
    label INTEGER,
    label_note TEXT
  ) STRICT;
CREATE INDEX event_reviews_by_start ON event_reviews (started_at);
CREATE TABLE redriven_letters (
    partition INTEGER NOT NULL,
    letter_offset INTEGER NOT NULL,
    redriven_at INTEGER NOT NULL,
    redriven_by TEXT NOT NULL,
    PRIMARY KEY (partition, letter_offset)
  ) STRICT;
CREATE TABLE idempotent_answers (
    owner TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    answer TEXT NOT NULL,
    answered_at INTEGER NOT NULL,
    PRIMARY KEY (owner, idempotency_key)
  ) STRICT;
CREATE INDEX idempotent_answers_by_time ON idempotent_answers (answered_at);
CREATE TABLE console_sessions (
    digest BLOB PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    begun_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
CREATE INDEX console_sessions_by_expiry ON console_sessions (expires_at);
CREATE TABLE detector_versions (
    version INTEGER PRIMARY KEY,
    saved_at INTEGER NOT NULL,
    saved_by TEXT NOT NULL,
    comment TEXT,
    text TEXT NOT NULL
  ) STRICT;
INSERT INTO schema_version (version) VALUES (1);
INSERT INTO schema_version (version) VALUES (2);
INSERT INTO schema_version (version) VALUES (3);
INSERT INTO schema_version (version) VALUES (4);
INSERT INTO schema_version (version) VALUES (5);
INSERT INTO schema_version (version) VALUES (6);
INSERT INTO schema_version (version) VALUES (7);
INSERT INTO schema_version (version) VALUES (8);
INSERT INTO schema_version (version) VALUES (9);
INSERT INTO schema_version (version) VALUES (10);
INSERT INTO schema_version (version) VALUES (11);
INSERT INTO api_keys (id, owner, name, prefix, digest, created_at, expires_at, revoked_at, models, calls_per_minute, calls_at_once, credits, role, bootstrap) VALUES ('key-1', 'ann', 'first', 'a-secr', X'a7521489ba808baec95bdd529b679654a80cfeaf206120e7d86b8930b8b175ee', 1795392000000, NULL, NULL, NULL, 60, NULL, 500, 'admin', 0);
INSERT INTO credit_grants (number, key_id, granted_at, tokens) VALUES (1, 'key-1', 1795392000000, 500);
INSERT INTO audit_log (number, happened_at, actor, owner, action, subject, detail, request_id) VALUES (1, 1795392000000, 'operator', 'ann', 'key-created', 'key-1', '{"name":"first","role":"admin","expiresAtMs":null,"models":null,"callsPerMinute":60,"callsAtOnce":null,"credits":500}', NULL);
INSERT INTO event_reviews (event_id, started_at, record, acknowledged_at, acknowledged_by, acknowledged_note, muted_at, muted_by, muted_until, muted_reason, labelled_at, labelled_by, label, label_note) VALUES ('event-1', 1795392000000, '{"eventId":"event-1","type":"opened","revision":0,"detector":"metrics","series":"a","group":null,"kind":"spike","direction":"up","startedAtMs":1767225600000,"peakAtMs":1767225600000,"updatedAtMs":1767225600000,"endedAtMs":null,"severity":12,"grade":0.9,"value":40,"expected":10,"lo":8,"hi":12,"alarms":1,"observations":1,"closeReason":null,"summary":"a is 40 where 10 was expected","unusual":null,"members":[],"labels":{}}', 1795392000000, 'first', 'seen', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO console_sessions (digest, key_id, begun_at, expires_at) VALUES (X'1050cf067be7ac1f93866b922ea530cbfcfc235f492390e9c6d6ba9225bd6cf9', 'key-1', 1795392000000, 1795996800000);
