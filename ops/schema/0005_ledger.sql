-- The ledger and the transparency log (ledger.md section 5). All but the few said are append-only:
-- INSERT and SELECT to cresset_ledger, UPDATE and DELETE to nobody.
--
--     kind      1 final  2 interim  3 window  4 correction
--     outcome   1 completed  2 tenant_error  3 limit  4 cancelled  5 preempted  6 platform_error  7 open
--     program   1 train  2 batch
--     meter     1 device  2 tokens_in  3 tokens_out  4 requests  5 requests_cut
--     class     0 usage  1 correction
--     pin       1 day  2 released  3 last
--
-- An outcome is accepted where it is 1 to 4: that is a job's one completion (M1).

CREATE TABLE audit_leaf (
    leaf_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text, -- null: the region's
    kind      text NOT NULL,
    actor     text NOT NULL,
    object    text NOT NULL,
    at_us     bigint NOT NULL CHECK (at_us >= 0),
    salt      bytea CHECK (octet_length(salt) = 16),
    payload   bytea NOT NULL,
    entry     bytea NOT NULL CHECK (octet_length(entry) <= 65535)
);
CREATE INDEX audit_leaf_tenant ON audit_leaf (tenant_id, leaf_id DESC);
CREATE INDEX audit_leaf_object ON audit_leaf (tenant_id, object, leaf_id DESC);
CREATE TABLE leaf_queue (
    leaf_id bigint PRIMARY KEY REFERENCES audit_leaf
) WITH (autovacuum_vacuum_scale_factor = 0.01);
CREATE TABLE leaf_seq (
    seq       bigint PRIMARY KEY CHECK (seq >= 0),
    leaf_id   bigint NOT NULL UNIQUE REFERENCES audit_leaf,
    leaf_hash bytea NOT NULL CHECK (octet_length(leaf_hash) = 32)
);
CREATE TABLE log_state (
    region   text PRIMARY KEY,
    size     bigint NOT NULL DEFAULT 0 CHECK (size >= 0),
    root     bytea NOT NULL CHECK (octet_length(root) = 32),
    frontier bytea NOT NULL DEFAULT '',
    epoch    bigint NOT NULL DEFAULT 0
);
CREATE TABLE checkpoint (
    size      bigint PRIMARY KEY CHECK (size >= 0),
    root      bytea NOT NULL CHECK (octet_length(root) = 32),
    frontier  bytea NOT NULL,
    note      bytea NOT NULL,
    signed_us bigint NOT NULL
);

CREATE TABLE price (
    price_id      text PRIMARY KEY CHECK (price_id LIKE 'prc\_%'),
    region        text NOT NULL,
    tenant_id     text, -- of a contract
    list_price_id text REFERENCES price,
    flavor        text NOT NULL,
    meter         smallint NOT NULL CHECK (meter BETWEEN 1 AND 5),
    unit          text NOT NULL,
    currency      char(3) NOT NULL DEFAULT 'USD' CHECK (currency = 'USD'),
    rate_pico     bigint NOT NULL CHECK (rate_pico BETWEEN 0 AND 1000000000000000),
    from_us       bigint NOT NULL,
    payload       bytea NOT NULL,
    signature     bytea NOT NULL CHECK (octet_length(signature) = 64),
    leaf_id       bigint NOT NULL REFERENCES audit_leaf,
    UNIQUE NULLS NOT DISTINCT (region, tenant_id, flavor, meter, currency, from_us)
);
ALTER TABLE job ADD FOREIGN KEY (price_id) REFERENCES price;

CREATE TABLE usage_record (
    tenant_id      text NOT NULL,
    record_id      text NOT NULL CHECK (record_id LIKE 'rec\_%'),
    region         text NOT NULL,
    home           text NOT NULL,
    job_id         text NOT NULL,
    lease_epoch    bigint NOT NULL,
    kind           smallint NOT NULL CHECK (kind BETWEEN 1 AND 4),
    outcome        smallint NOT NULL CHECK (outcome BETWEEN 1 AND 7),
    program        smallint NOT NULL CHECK (program BETWEEN 1 AND 4),
    flavor         text NOT NULL,
    day            int NOT NULL,
    device_ns      bigint NOT NULL CHECK (device_ns >= 0 OR kind = 4),
    tokens_in      bigint CHECK (tokens_in >= 0),
    tokens_out     bigint CHECK (tokens_out >= 0),
    energy_mj      bigint CHECK (energy_mj >= 0),
    prev           bytea CHECK (octet_length(prev) = 32),
    corrects       text,
    from_us        bigint CHECK ((from_us IS NOT NULL) = (kind = 3)),
    at_us          bigint NOT NULL,
    payload        bytea NOT NULL,
    payload_sha256 bytea NOT NULL CHECK (octet_length(payload_sha256) = 32),
    signature      bytea NOT NULL CHECK (octet_length(signature) = 64),
    key_id         bytea NOT NULL CHECK (octet_length(key_id) = 4),
    leaf_id        bigint NOT NULL UNIQUE REFERENCES audit_leaf,
    completes      text GENERATED ALWAYS AS (CASE WHEN kind = 1 AND outcome <= 4 THEN job_id END)
                   STORED,
    PRIMARY KEY (tenant_id, record_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job,
    FOREIGN KEY (tenant_id, corrects) REFERENCES usage_record,
    CHECK ((corrects IS NOT NULL) = (kind = 4)),
    CHECK ((outcome = 7) = (kind = 2)),
    CHECK (kind <> 1 OR outcome NOT IN (5, 6) OR device_ns = 0)
);
CREATE UNIQUE INDEX usage_record_day ON usage_record (tenant_id, job_id, lease_epoch, kind, day)
    WHERE kind IN (1, 2);
CREATE UNIQUE INDEX usage_record_final ON usage_record (tenant_id, job_id, lease_epoch) WHERE kind = 1;
CREATE UNIQUE INDEX usage_record_completes ON usage_record (tenant_id, completes);
CREATE UNIQUE INDEX usage_record_window ON usage_record (tenant_id, job_id, from_us) WHERE kind = 3;
CREATE INDEX usage_record_time ON usage_record (tenant_id, at_us);
-- Each completion has its record and each accepted record its completion, at the commit (M1).
ALTER TABLE usage_record ADD FOREIGN KEY (tenant_id, completes)
    REFERENCES completion (tenant_id, job_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE completion ADD FOREIGN KEY (tenant_id, record_id)
    REFERENCES usage_record DEFERRABLE INITIALLY DEFERRED;

CREATE TABLE usage_leg (
    tenant_id      text NOT NULL,
    record_id      text NOT NULL,
    leg            smallint NOT NULL CHECK (leg >= 0),
    node_id        text NOT NULL,
    devices        text[] NOT NULL,
    slices         int NOT NULL CHECK (slices BETWEEN 1 AND 65536),
    granted_us     bigint NOT NULL CHECK (granted_us >= 0),
    ended_us       bigint NOT NULL,
    from_us        bigint NOT NULL,
    held_ns        bigint NOT NULL CHECK (held_ns >= 0),
    prior_ns       bigint NOT NULL CHECK (prior_ns >= 0),
    billed_ns      bigint NOT NULL,
    reading_sha256 bytea CHECK (octet_length(reading_sha256) = 32),
    PRIMARY KEY (tenant_id, record_id, leg),
    FOREIGN KEY (tenant_id, record_id) REFERENCES usage_record,
    -- A correction has negative billed time; of the others these hold (ledger.md section 4, M3).
    CHECK (billed_ns < 0 OR prior_ns + billed_ns <= held_ns),
    CHECK (billed_ns < 0 OR granted_us <= from_us),
    CHECK (billed_ns < 0 OR from_us::numeric * 1000 + billed_ns <= ended_us::numeric * 1000),
    CHECK (billed_ns <= 86400000000000)
);
CREATE TABLE usage_reading (
    tenant_id   text NOT NULL,
    job_id      text NOT NULL,
    lease_epoch bigint NOT NULL,
    member      int NOT NULL,
    pin         smallint NOT NULL CHECK (pin BETWEEN 1 AND 3),
    day         int NOT NULL,
    seq         bigint NOT NULL,
    acquire_ns  bigint NOT NULL,
    mono_ns     bigint NOT NULL,
    held_ns     bigint NOT NULL CHECK (held_ns >= 0),
    busy_ns     bigint,
    energy_mj   bigint,
    received_us bigint NOT NULL,
    node_id     text NOT NULL,
    boot        text NOT NULL,
    payload     bytea NOT NULL,
    path        bytea NOT NULL,
    leaf_index  int NOT NULL,
    tree_size   int NOT NULL,
    statement   bytea NOT NULL,
    signature   bytea NOT NULL CHECK (octet_length(signature) = 64),
    PRIMARY KEY (tenant_id, job_id, lease_epoch, member, pin, day)
);
CREATE TABLE charge (
    tenant_id    text NOT NULL,
    record_id    text NOT NULL,
    meter        smallint NOT NULL CHECK (meter BETWEEN 1 AND 5),
    price_id     text NOT NULL REFERENCES price,
    flavor       text NOT NULL,
    quantity     bigint NOT NULL,
    rate_pico    bigint NOT NULL CHECK (rate_pico BETWEEN 0 AND 1000000000000000),
    amount_zepto numeric(38, 0) NOT NULL,
    currency     char(3) NOT NULL DEFAULT 'USD' CHECK (currency = 'USD'),
    period       int NOT NULL,
    day          int NOT NULL,
    class        smallint NOT NULL DEFAULT 0 CHECK (class IN (0, 1)),
    PRIMARY KEY (tenant_id, record_id, meter),
    FOREIGN KEY (tenant_id, record_id) REFERENCES usage_record,
    CHECK (amount_zepto = quantity::numeric * rate_pico
                          * CASE WHEN meter = 1 THEN 1 ELSE 1000000000 END)
);
CREATE INDEX charge_period ON charge (tenant_id, period, flavor, meter, price_id, class);
CREATE TABLE invoice (
    tenant_id      text NOT NULL,
    invoice_id     text NOT NULL CHECK (invoice_id LIKE 'inv\_%'),
    number         bigint NOT NULL UNIQUE CHECK (number > 0),
    period         int NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
    currency       char(3) NOT NULL,
    exponent       smallint NOT NULL CHECK (exponent BETWEEN 0 AND 3),
    lines_micro    bigint NOT NULL,
    rounding_micro bigint NOT NULL,
    total_micro    bigint NOT NULL,
    corrects       text,
    payload        bytea NOT NULL,
    payload_sha256 bytea NOT NULL CHECK (octet_length(payload_sha256) = 32),
    signature      bytea NOT NULL CHECK (octet_length(signature) = 64),
    key_id         bytea NOT NULL CHECK (octet_length(key_id) = 4),
    leaf_id        bigint NOT NULL REFERENCES audit_leaf,
    issued_us      bigint NOT NULL,
    PRIMARY KEY (tenant_id, invoice_id),
    CHECK (total_micro = lines_micro + rounding_micro),
    CHECK (rounding_micro <= 0 AND rounding_micro > -power(10, 6 - exponent))
);
CREATE UNIQUE INDEX invoice_period ON invoice (tenant_id, period) WHERE kind = 'invoice';
CREATE TABLE invoice_line (
    tenant_id    text NOT NULL,
    invoice_id   text NOT NULL,
    line         int NOT NULL CHECK (line > 0),
    flavor       text NOT NULL,
    meter        smallint NOT NULL,
    price_id     text NOT NULL REFERENCES price,
    class        smallint NOT NULL,
    unit         text NOT NULL,
    quantity     numeric(38, 0) NOT NULL,
    rate_pico    bigint NOT NULL,
    amount_zepto numeric(38, 0) NOT NULL,
    amount_micro bigint NOT NULL,
    record_count bigint NOT NULL,
    records_root bytea NOT NULL CHECK (octet_length(records_root) = 32),
    PRIMARY KEY (tenant_id, invoice_id, line),
    FOREIGN KEY (tenant_id, invoice_id) REFERENCES invoice,
    CHECK (amount_zepto = quantity * rate_pico * CASE WHEN meter = 1 THEN 1 ELSE 1000000000 END),
    CHECK (amount_micro = floor(amount_zepto / 1000000000000000))
);
CREATE TABLE node_key (
    key_id    bytea NOT NULL CHECK (octet_length(key_id) = 4),
    issued_us bigint NOT NULL,
    node_id   text NOT NULL REFERENCES node,
    vkey      text NOT NULL,
    from_us   bigint NOT NULL,
    until_us  bigint,
    payload   bytea NOT NULL,
    signature bytea NOT NULL CHECK (octet_length(signature) = 64),
    leaf_id   bigint NOT NULL REFERENCES audit_leaf,
    PRIMARY KEY (key_id, issued_us)
);
CREATE INDEX node_key_node ON node_key (node_id, issued_us DESC);
-- States of devices: 1 free, 2 leased, 3 maintenance, 4 unknown, 5 gone. An interval lasts to the
-- next row, so there are no gaps and no overlaps, by construction.
CREATE TABLE device_state (
    device_id   text NOT NULL REFERENCES device,
    at_us       bigint NOT NULL,
    state       smallint NOT NULL CHECK (state BETWEEN 1 AND 5),
    job_id      text,
    lease_epoch bigint,
    member      int,
    reason      text,
    PRIMARY KEY (device_id, at_us),
    CHECK ((state = 2) = (job_id IS NOT NULL))
);
CREATE TABLE device_day (
    device_id        text NOT NULL REFERENCES device,
    day              int NOT NULL,
    present_ns       bigint NOT NULL CHECK (present_ns BETWEEN 0 AND 86400000000000),
    billed_ns        bigint NOT NULL CHECK (billed_ns >= 0),
    idle_free_ns     bigint NOT NULL CHECK (idle_free_ns >= 0),
    idle_reserved_ns bigint NOT NULL CHECK (idle_reserved_ns >= 0),
    idle_waived_ns   bigint NOT NULL CHECK (idle_waived_ns >= 0),
    maintenance_ns   bigint NOT NULL CHECK (maintenance_ns >= 0),
    unattributed_ns  bigint NOT NULL CHECK (unattributed_ns = 0),
    PRIMARY KEY (device_id, day),
    CHECK (billed_ns + idle_free_ns + idle_reserved_ns + idle_waived_ns + maintenance_ns
           + unattributed_ns = present_ns)
);
CREATE TABLE usage_total (
    tenant_id    text NOT NULL,
    queue        text NOT NULL,
    day          int NOT NULL,
    flavor       text NOT NULL,
    meter        smallint NOT NULL,
    quantity     numeric(38, 0) NOT NULL,
    amount_zepto numeric(38, 0) NOT NULL,
    PRIMARY KEY (tenant_id, queue, day, flavor, meter)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['usage_record', 'usage_leg', 'usage_reading', 'charge', 'invoice',
                                'invoice_line', 'usage_total'] LOOP
        CALL cresset_of_tenants(name);
    END LOOP;
END
$$;
-- Leaves and prices of the region are without a tenant: an operator's transaction writes them, as
-- 'operators', and everybody may read the tariff.
ALTER TABLE audit_leaf ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_leaf FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON audit_leaf TO cresset_app, cresset_ledger
    USING (coalesce(tenant_id, 'operators') = (SELECT cresset_tenant()))
    WITH CHECK (coalesce(tenant_id, 'operators') = (SELECT cresset_tenant()));
CREATE POLICY of_region ON audit_leaf TO cresset_engine USING (true) WITH CHECK (true);
ALTER TABLE price ENABLE ROW LEVEL SECURITY;
ALTER TABLE price FORCE ROW LEVEL SECURITY;
CREATE POLICY of_list ON price TO cresset_app, cresset_ledger
    USING (tenant_id IS NULL OR tenant_id = (SELECT cresset_tenant()))
    WITH CHECK (tenant_id IS NULL OR tenant_id = (SELECT cresset_tenant()));
CREATE POLICY of_region ON price TO cresset_engine USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON audit_leaf, price, usage_record, usage_leg, usage_reading, charge, invoice,
    invoice_line, node_key, device_state, device_day TO cresset_ledger;
GRANT INSERT ON leaf_queue TO cresset_ledger;
GRANT SELECT ON leaf_seq, checkpoint TO cresset_ledger, cresset_app;
GRANT SELECT ON usage_total, log_state TO cresset_app;
GRANT SELECT, DELETE ON leaf_queue TO cresset_engine;
GRANT SELECT, INSERT ON leaf_seq, checkpoint TO cresset_engine;
GRANT SELECT, INSERT, UPDATE ON log_state, usage_total TO cresset_engine;
