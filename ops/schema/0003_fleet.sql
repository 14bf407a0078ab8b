-- The region's engine, its nodes and their devices: the operators' tables. Tenants meet them through
-- use cases alone. Marked * where the engine alone writes, in a transaction that began with db.7.

CREATE TABLE engine (
    region     text PRIMARY KEY,
    epoch      bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0), -- incarnation * 2^48 + n (db.14)
    holder     text,
    holder_url text,
    until_us   bigint NOT NULL DEFAULT 0,
    since      bigint NOT NULL DEFAULT 0
);
CREATE TABLE class (
    name          text PRIMARY KEY,
    value         int NOT NULL CHECK (value BETWEEN -1000 AND 1000),
    preempts      boolean NOT NULL,
    min_runtime_s int NOT NULL CHECK (min_runtime_s >= 0),
    spot          boolean NOT NULL
);
INSERT INTO class VALUES
    ('critical', 900, true, 600, false), ('high', 500, true, 600, false),
    ('normal', 0, true, 600, false), ('low', -500, false, 600, false),
    ('spot', -900, false, 0, true);

CREATE TABLE node (
    node_id       text PRIMARY KEY CHECK (node_id LIKE 'node\_%'),
    name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    region        text NOT NULL,
    zone          text NOT NULL DEFAULT '',
    block         text NOT NULL DEFAULT '',
    rack          text NOT NULL DEFAULT '',
    model         text NOT NULL,
    devices       int NOT NULL CHECK (devices BETWEEN 0 AND 512),
    cpu_milli     bigint NOT NULL CHECK (cpu_milli >= 0),
    memory_mib    bigint NOT NULL CHECK (memory_mib >= 0),
    disk_mib      bigint NOT NULL DEFAULT 0,
    disk_free_mib bigint,
    state         text NOT NULL DEFAULT 'joining'
                  CHECK (state IN ('joining', 'ready', 'cordoned', 'quarantined', 'draining',
                                   'suspect', 'lost', 'retired')),
    reason        text,
    node_epoch    bigint NOT NULL DEFAULT 0 CHECK (node_epoch >= 0),
    labels        jsonb NOT NULL DEFAULT '{}',
    address       text NOT NULL DEFAULT '',
    vkey          text NOT NULL,
    boot          text,
    start_ns      bigint,
    statement_seq bigint, -- of the boot: the last statement that was taken
    protocol      int NOT NULL DEFAULT 1,
    build         text NOT NULL DEFAULT '',
    engine        text NOT NULL DEFAULT '', -- the engine class, for example x86-64-v4
    jail          text NOT NULL DEFAULT '', -- layers in force
    joined        bigint NOT NULL DEFAULT cresset_now_us(),
    seen          bigint,
    lost          bigint, -- since when it is suspect or lost
    version       bigint NOT NULL DEFAULT 1
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX node_name ON node (region, name) WHERE state <> 'retired';

CREATE TABLE card ( -- *
    node_id text NOT NULL REFERENCES node,
    card    text NOT NULL,
    model   text NOT NULL,
    holder  text, -- the tenant
    held    int NOT NULL DEFAULT 0 CHECK (held BETWEEN 0 AND 1000),
    PRIMARY KEY (node_id, card),
    CHECK ((holder IS NULL) = (held = 0))
);
CREATE TABLE device ( -- * but stamp_us and state
    device_id  text PRIMARY KEY CHECK (device_id LIKE 'node\_%/%'),
    node_id    text NOT NULL,
    card       text NOT NULL,
    model      text NOT NULL,
    memory_mib bigint NOT NULL DEFAULT 0,
    size_milli int NOT NULL DEFAULT 1000 CHECK (size_milli BETWEEN 1 AND 1000),
    slices     int NOT NULL DEFAULT 1 CHECK (slices BETWEEN 1 AND 65536),
    class      text NOT NULL DEFAULT '',
    driver     text NOT NULL DEFAULT '',
    state      text NOT NULL DEFAULT 'ok' CHECK (state IN ('ok', 'suspect', 'failed', 'gone')),
    lease_id   text, -- taken by UPDATE … WHERE lease_id IS NULL, the row count checked
    stamp_us   bigint NOT NULL DEFAULT 0, -- of its newest device_state; only grows
    FOREIGN KEY (node_id, card) REFERENCES card
) WITH (fillfactor = 70);
CREATE INDEX device_node ON device (node_id);
CREATE INDEX device_lease ON device (lease_id) WHERE lease_id IS NOT NULL;

CREATE TABLE engine_batch ( -- *
    epoch     bigint NOT NULL,
    no        bigint NOT NULL,
    jobs      int NOT NULL,
    accepted  bytea, -- a bit a decision; null until the batch has finished
    decisions bytea NOT NULL,
    sha256    bytea NOT NULL CHECK (octet_length(sha256) = 32),
    created   bigint NOT NULL DEFAULT cresset_now_us(),
    PRIMARY KEY (epoch, no)
);
CREATE INDEX engine_batch_created ON engine_batch (created);

CREATE TABLE park ( -- *
    class_key text PRIMARY KEY,
    why       text NOT NULL,
    since     bigint NOT NULL,
    jobs      int NOT NULL,
    wake      text NOT NULL
);

CREATE FUNCTION grows_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'engine' THEN
        IF NEW.epoch < OLD.epoch THEN
            RAISE EXCEPTION 'the engine epoch of % may not fall', OLD.region USING ERRCODE = '23514';
        END IF;
    ELSIF TG_TABLE_NAME = 'node' THEN
        IF NEW.node_epoch < OLD.node_epoch THEN
            RAISE EXCEPTION 'the epoch of % may not fall', OLD.node_id USING ERRCODE = '23514';
        END IF;
    ELSIF NEW.stamp_us < OLD.stamp_us THEN
        RAISE EXCEPTION 'the stamp of % may not fall', OLD.device_id USING ERRCODE = '23514';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER grows BEFORE UPDATE ON engine FOR EACH ROW EXECUTE FUNCTION grows_only();
CREATE TRIGGER grows BEFORE UPDATE ON node FOR EACH ROW EXECUTE FUNCTION grows_only();
CREATE TRIGGER grows BEFORE UPDATE ON device FOR EACH ROW EXECUTE FUNCTION grows_only();

GRANT SELECT ON engine, class, node, card, device, park, engine_batch TO cresset_app;
-- A completion stamps the devices of its lease, and takes nothing.
GRANT UPDATE (stamp_us, state) ON device TO cresset_app;
GRANT UPDATE (seen, statement_seq, disk_free_mib, state, reason, lost, version) ON node TO cresset_app;
GRANT SELECT, INSERT, UPDATE ON engine, node, card, device TO cresset_engine;
GRANT SELECT, INSERT, UPDATE, DELETE ON engine_batch, park TO cresset_engine;
GRANT SELECT ON class TO cresset_engine;
