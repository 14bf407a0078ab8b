-- Jobs, their leases, what they read and make, and what is told of them.
--
-- Times are microseconds of UTC, by the region's clock. Marked * where the engine alone writes, in a
-- transaction that began with db.7.

CREATE TABLE artifact (
    tenant_id   text NOT NULL,
    artifact_id text NOT NULL CHECK (artifact_id LIKE 'art\_%'),
    sha256      bytea NOT NULL CHECK (octet_length(sha256) = 32),
    size        bigint NOT NULL CHECK (size >= 0),
    kind        text NOT NULL
                CHECK (kind IN ('dataset', 'model', 'checkpoint', 'predictions', 'other')),
    state       text NOT NULL CHECK (state IN ('uploading', 'held', 'deleted')),
    received    bigint NOT NULL DEFAULT 0 CHECK (received BETWEEN 0 AND size), -- offset of an upload
    name        text CHECK (length(name) BETWEEN 1 AND 255),
    job_id      text, -- which made it
    created     bigint NOT NULL DEFAULT cresset_now_us(),
    held        bigint,
    version     bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, artifact_id),
    CHECK ((state = 'uploading') = (held IS NULL)),
    CHECK (state = 'uploading' OR received = size)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX artifact_digest ON artifact (tenant_id, sha256) WHERE state <> 'deleted';
CREATE INDEX artifact_job ON artifact (tenant_id, job_id) WHERE job_id IS NOT NULL;

-- Written twice: at submission and at its end.
CREATE TABLE job (
    tenant_id     text NOT NULL,
    job_id        text NOT NULL CHECK (job_id LIKE 'job\_%'),
    name          text CHECK (length(name) BETWEEN 1 AND 255),
    labels        jsonb NOT NULL DEFAULT '{}',
    kind          text NOT NULL CHECK (kind IN ('train', 'batch')),
    queue         text NOT NULL,
    class         text NOT NULL REFERENCES class,
    price_id      text,
    spec          text NOT NULL, -- JSON, the bytes that spec_sha256 is of
    spec_sha256   bytea NOT NULL CHECK (octet_length(spec_sha256) = 32),
    max_runtime_s bigint NOT NULL CHECK (max_runtime_s > 0),
    stop_grace_s  bigint NOT NULL CHECK (stop_grace_s >= 0),
    retry_max     int NOT NULL DEFAULT 0 CHECK (retry_max BETWEEN 0 AND 5),
    retry_on      text[] NOT NULL DEFAULT '{}',
    submitted     bigint NOT NULL,
    submitted_by  text NOT NULL,
    terminal      text CHECK (terminal IN ('succeeded', 'failed', 'cancelled', 'expired')),
    code          text, -- of the end, for example OK or DEADLINE
    reason        text, -- one sentence about it
    ended         bigint,
    lease_epoch   bigint NOT NULL DEFAULT 0, -- of the last grant, at the end
    attempt       int NOT NULL DEFAULT 0,
    outputs       text, -- JSON: name to artifact id
    metrics       text, -- JSON: name to number
    result_sha256 bytea CHECK (octet_length(result_sha256) = 32),
    record_id     text, -- the usage record of its completion
    device_ns     bigint NOT NULL DEFAULT 0,
    amount_zepto  numeric(38, 0) NOT NULL DEFAULT 0, -- of all its charges
    version       bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, job_id),
    CHECK ((terminal IS NULL) = (ended IS NULL)),
    CHECK ((terminal IS NULL) = (code IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX job_terminal ON job (tenant_id, terminal, job_id DESC);
CREATE INDEX job_kind ON job (tenant_id, kind, job_id DESC);
CREATE INDEX job_name ON job (tenant_id, name text_pattern_ops, job_id DESC) WHERE name IS NOT NULL;
CREATE INDEX job_labels ON job USING gin (labels jsonb_path_ops);

-- What moves while a job lives; deleted with its end, in that transaction. Narrow, so that an update
-- stays on its page.
CREATE TABLE job_live (
    tenant_id       text NOT NULL,
    job_id          text NOT NULL,
    queue_id        text NOT NULL,
    priority        int NOT NULL,
    state           text NOT NULL CHECK (state IN ('queued', 'placing', 'running', 'stopping')),
    code            text, -- why it waits, or is being stopped: a word of admission.md section 10
    reason          text,
    mark            text CHECK (mark IN ('preempted')),
    lease_epoch     bigint NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
    attempt         int NOT NULL DEFAULT 0,
    platform_losses int NOT NULL DEFAULT 0,
    retries         int NOT NULL DEFAULT 0, -- of its own failures, against retry_max
    preempted       int NOT NULL DEFAULT 0,
    not_before      bigint,  -- no grant sooner: asked for, or waiting after a loss
    queue_until     bigint,  -- queue_ttl_s
    stop_cause      text CHECK (stop_cause IN ('cancel', 'preempt', 'drain', 'deadline', 'budget',
                                               'residency', 'gang')),
    stop_until      bigint,
    run_region      text,
    forward_epoch   bigint NOT NULL DEFAULT 0,
    batch           bigint,  -- stamp of the grant
    version         bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job,
    CHECK ((state = 'stopping') = (stop_cause IS NOT NULL))
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX job_live_state ON job_live (tenant_id, state, job_id DESC);

CREATE TABLE job_count ( -- *
    tenant_id text NOT NULL,
    day       int NOT NULL, -- of the submission, days since 1970
    state     text NOT NULL,
    jobs      bigint NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (tenant_id, day, state)
) WITH (fillfactor = 70);
-- Which state of a job is counted at present, so that events that come twice count once.
CREATE TABLE job_counted ( -- *
    tenant_id text NOT NULL,
    job_id    text NOT NULL,
    day       int NOT NULL,
    state     text NOT NULL,
    PRIMARY KEY (tenant_id, job_id)
) WITH (fillfactor = 70);

CREATE TABLE lease (
    tenant_id     text NOT NULL,
    job_id        text NOT NULL,
    lease_epoch   bigint NOT NULL CHECK (lease_epoch > 0),
    member        int NOT NULL DEFAULT 0 CHECK (member BETWEEN 0 AND 511),
    lease_id      text NOT NULL CHECK (lease_id LIKE 'lse\_%'),
    node_id       text NOT NULL REFERENCES node,
    node_epoch    bigint NOT NULL,
    devices       text[] NOT NULL CHECK (cardinality(devices) BETWEEN 1 AND 512),
    flavor        text NOT NULL,
    slices        int NOT NULL CHECK (slices BETWEEN 1 AND 65536),
    state         text NOT NULL
                  CHECK (state IN ('granted', 'running', 'revoking', 'released', 'expired', 'revoked')),
    attempt       int NOT NULL,
    granted       bigint NOT NULL,
    started       bigint,
    ended         bigint,
    revoke_reason text,
    stop_until    bigint, -- of a revocation: when the grace ends
    word          text, -- how it ended, of compute.md section 5; null while it lives
    detail        text,
    boot          text, -- of the agent that started it
    runner        text, -- sha256 of the binary that ran
    engine_class  text,
    settled       boolean NOT NULL DEFAULT false, -- by the engine *: devices and counts returned
    PRIMARY KEY (tenant_id, job_id, lease_epoch, member),
    UNIQUE (tenant_id, lease_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job,
    CHECK ((state IN ('released', 'expired', 'revoked')) = (ended IS NOT NULL)),
    CHECK (ended IS NULL OR ended >= granted)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX lease_live ON lease (tenant_id, job_id, member)
    WHERE state IN ('granted', 'running', 'revoking');
CREATE INDEX lease_id ON lease (lease_id);
CREATE INDEX lease_node ON lease (node_id) WHERE state IN ('granted', 'running', 'revoking');
CREATE INDEX lease_unsettled ON lease (lease_id) WHERE NOT settled;

-- What renewals write (db.9). No index on what changes, so that updates stay on their page.
CREATE TABLE lease_meter (
    tenant_id   text NOT NULL,
    lease_id    text NOT NULL,
    until_us    bigint NOT NULL,
    beat        bigint NOT NULL DEFAULT 0, -- grows with each renewal
    boot        text,
    seq         bigint, -- of the last reading that was taken; null before the first
    state       text CHECK (state IN ('held', 'released')),
    slices      int,
    acquire_ns  bigint, -- these by the node's clock
    mono_ns     bigint,
    held_ns     bigint,
    busy_ns     bigint,
    energy_mj   bigint,
    from_us     bigint, -- where held time begins on the region's clock (ledger.md section 4)
    received_us bigint,
    reading     bytea, -- the last one, as evidence: its body, and the statement it is under
    leaf_index  int,
    tree_size   int,
    path        bytea,
    statement   bytea,
    signature   bytea,
    progress_seq    bigint,
    progress_sha256 bytea,
    PRIMARY KEY (tenant_id, lease_id),
    FOREIGN KEY (tenant_id, lease_id) REFERENCES lease (tenant_id, lease_id)
) WITH (fillfactor = 70);

CREATE TABLE job_progress (
    tenant_id   text NOT NULL,
    job_id      text NOT NULL,
    lease_epoch bigint NOT NULL,
    step        bigint NOT NULL CHECK (step >= 0),
    steps       bigint NOT NULL CHECK (steps >= 0),
    phase       text NOT NULL,
    at_us       bigint NOT NULL,
    PRIMARY KEY (tenant_id, job_id)
) WITH (fillfactor = 60);

-- Logs and points as runners sent them, append-only, 30 days. Beside each chunk of points stands one
-- of `series`, with the name of each series number, one a line.
CREATE TABLE job_chunk (
    tenant_id   text NOT NULL,
    job_id      text NOT NULL,
    lease_epoch bigint NOT NULL,
    member      int NOT NULL DEFAULT 0,
    stream      text NOT NULL CHECK (stream IN ('log', 'points', 'series')),
    seq         bigint NOT NULL CHECK (seq >= 0),
    first_step  bigint NOT NULL DEFAULT 0,
    start_at    bigint NOT NULL DEFAULT 0, -- of a log: bytes of the stream before this chunk
    payload     bytea NOT NULL CHECK (octet_length(payload) <= 92160),
    dropped     bigint NOT NULL DEFAULT 0,
    received_us bigint NOT NULL DEFAULT cresset_now_us(),
    PRIMARY KEY (tenant_id, job_id, stream, lease_epoch, member, seq)
);

CREATE TABLE job_checkpoint (
    tenant_id   text NOT NULL,
    job_id      text NOT NULL,
    lease_epoch bigint NOT NULL,
    step        bigint NOT NULL CHECK (step >= 0),
    digest      bytea NOT NULL CHECK (octet_length(digest) = 32),
    size        bigint NOT NULL CHECK (size >= 0),
    held_ns     bigint NOT NULL CHECK (held_ns >= 0),
    accepted_us bigint NOT NULL,
    PRIMARY KEY (tenant_id, job_id, lease_epoch, step),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job
);

-- The one accepted completion of a job (J3). Its record is in the same transaction (M1).
CREATE TABLE completion (
    tenant_id   text NOT NULL,
    job_id      text NOT NULL,
    lease_epoch bigint NOT NULL,
    outcome     smallint NOT NULL,
    record_id   text NOT NULL,
    message     bytea, -- SHA-256 of the node's message: the same again is answered the same
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job
);

-- What a transaction tells; the sequencer makes it an event within seconds, and deletes it.
CREATE TABLE outbox (
    n         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid       xid8 NOT NULL DEFAULT pg_current_xact_id(),
    tenant_id text NOT NULL, -- 'operators' for the region's own
    type      text NOT NULL CHECK (type LIKE '%.%'),
    subject   text NOT NULL,
    body      text NOT NULL CHECK (octet_length(body) <= 65536),
    at_us     bigint NOT NULL DEFAULT cresset_now_us()
) WITH (autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE event ( -- *
    region     text NOT NULL,
    seq        bigint NOT NULL CHECK (seq > 0),
    event_id   text NOT NULL,
    tenant_id  text NOT NULL,
    tenant_seq bigint NOT NULL CHECK (tenant_seq > 0),
    type       text NOT NULL,
    subject    text NOT NULL,
    body       text NOT NULL,
    timestamp  bigint NOT NULL,
    PRIMARY KEY (region, seq),
    UNIQUE (tenant_id, tenant_seq)
);
CREATE INDEX event_subject ON event (tenant_id, subject, tenant_seq);
CREATE INDEX event_timestamp ON event (timestamp);
-- The last numbers that were given, of the region ('' as tenant) and of each tenant.
CREATE TABLE event_seq ( -- *
    region    text NOT NULL,
    tenant_id text NOT NULL,
    seq       bigint NOT NULL,
    PRIMARY KEY (region, tenant_id)
) WITH (fillfactor = 50);

-- A terminal value never changes (K2), and epochs only grow (J3).
CREATE FUNCTION job_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.terminal IS NOT NULL
       AND (NEW.terminal, NEW.code, NEW.ended, NEW.lease_epoch, NEW.result_sha256, NEW.outputs,
            NEW.metrics, NEW.record_id)
           IS DISTINCT FROM (OLD.terminal, OLD.code, OLD.ended, OLD.lease_epoch, OLD.result_sha256,
                             OLD.outputs, OLD.metrics, OLD.record_id) THEN
        RAISE EXCEPTION '% has ended', OLD.job_id USING ERRCODE = '23514';
    END IF;
    IF NEW.terminal IS NOT NULL AND NEW.lease_epoch < OLD.lease_epoch THEN
        RAISE EXCEPTION 'the lease epoch of % may not fall', OLD.job_id USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard BEFORE UPDATE ON job FOR EACH ROW EXECUTE FUNCTION job_guard();

CREATE FUNCTION job_live_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.lease_epoch < OLD.lease_epoch THEN
        RAISE EXCEPTION 'the lease epoch of % may not fall', OLD.job_id USING ERRCODE = '23514';
    END IF;
    NEW.version := OLD.version + 1;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard BEFORE UPDATE ON job_live FOR EACH ROW EXECUTE FUNCTION job_live_guard();

CREATE FUNCTION lease_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.ended IS NOT NULL AND (NEW.state, NEW.ended, NEW.devices, NEW.node_id)
                                 IS DISTINCT FROM (OLD.state, OLD.ended, OLD.devices, OLD.node_id) THEN
        RAISE EXCEPTION '% has ended', OLD.lease_id USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard BEFORE UPDATE ON lease FOR EACH ROW EXECUTE FUNCTION lease_guard();

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['artifact', 'job', 'job_live', 'job_count', 'job_counted', 'lease',
                                'lease_meter', 'job_progress', 'job_chunk', 'job_checkpoint',
                                'completion', 'outbox', 'event', 'event_seq'] LOOP
        CALL cresset_of_tenants(name);
    END LOOP;
END
$$;

GRANT SELECT, INSERT, UPDATE ON artifact TO cresset_app;
GRANT SELECT, INSERT ON job TO cresset_app;
GRANT UPDATE (terminal, code, reason, ended, lease_epoch, attempt, outputs, metrics, result_sha256,
              record_id, device_ns, amount_zepto, version) ON job TO cresset_app, cresset_engine;
GRANT SELECT, INSERT, UPDATE, DELETE ON job_live TO cresset_app, cresset_engine;
GRANT SELECT ON job_count, lease, event TO cresset_app;
GRANT UPDATE (state, started, ended, revoke_reason, stop_until, word, detail, boot, runner,
              engine_class) ON lease TO cresset_app;
GRANT SELECT, INSERT, UPDATE ON lease_meter, job_progress TO cresset_app;
GRANT SELECT, INSERT ON job_chunk, job_checkpoint, completion, outbox TO cresset_app;

GRANT SELECT, INSERT, UPDATE, DELETE ON artifact TO cresset_engine;
GRANT SELECT ON job TO cresset_engine;
GRANT SELECT, INSERT, UPDATE, DELETE ON job_count, job_counted, event_seq TO cresset_engine;
GRANT SELECT, INSERT, DELETE ON outbox, event TO cresset_engine;
GRANT SELECT, INSERT, UPDATE ON lease, lease_meter, job_progress TO cresset_engine;
GRANT SELECT, INSERT ON job_checkpoint, completion TO cresset_engine;
GRANT SELECT, INSERT, DELETE ON job_chunk TO cresset_engine;

-- A job as it is shown: its row, what moves, its last lease and its progress.
CREATE VIEW job_row WITH (security_invoker = true) AS
SELECT j.tenant_id, j.job_id AS job, j.name, cresset_labels(j.labels) AS labels, j.labels AS label_set,
       j.kind, coalesce(j.terminal, l.state) AS state, coalesce(j.code, l.code) AS code,
       coalesce(j.reason, l.reason) AS reason, l.mark, j.queue, j.class, j.spec, j.price_id AS price,
       j.max_runtime_s, j.stop_grace_s, j.submitted, j.ended,
       coalesce(l.attempt, j.attempt) AS attempt, coalesce(l.lease_epoch, j.lease_epoch) AS lease_epoch,
       j.outputs, j.metrics, j.record_id AS record, j.device_ns,
       div(j.amount_zepto, 1000000000000000)::bigint AS cost_microusd,
       coalesce(l.version, j.version) AS version, j.terminal, l.state AS live_state
FROM job j LEFT JOIN job_live l ON l.tenant_id = j.tenant_id AND l.job_id = j.job_id;
GRANT SELECT ON job_row TO cresset_app, cresset_engine;
