-- Tenants, and who may act for them. tenant_id is 'operators' for keys and sessions of the region's
-- operators, and 'nodes' for the keys that nodes show in development.

CREATE TABLE tenant (
    tenant_id    text PRIMARY KEY CHECK (tenant_id LIKE 'tnt\_%'),
    name         text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 63),
    home         text NOT NULL,
    moves        bigint NOT NULL DEFAULT 0 CHECK (moves >= 0),
    state        text NOT NULL DEFAULT 'active'
                 CHECK (state IN ('active', 'suspended', 'moving', 'closed')),
    residency    text[] NOT NULL DEFAULT '{}',
    weight_milli int NOT NULL DEFAULT 1000 CHECK (weight_milli BETWEEN 0 AND 1000000),
    device_limit int NOT NULL DEFAULT 64 CHECK (device_limit BETWEEN 0 AND 100000),
    job_limit    int NOT NULL DEFAULT 100000 CHECK (job_limit BETWEEN 0 AND 100000),
    created      bigint NOT NULL DEFAULT cresset_now_us(),
    version      bigint NOT NULL DEFAULT 1
);
CALL cresset_of_tenants('tenant');
GRANT SELECT ON tenant TO cresset_app;
GRANT SELECT, INSERT, UPDATE ON tenant TO cresset_engine;

-- A key; its secrets stand apart, since two live side by side while one rotates.
CREATE TABLE api_key (
    tenant_id   text NOT NULL,
    key_id      text NOT NULL CHECK (key_id LIKE 'key\_%'),
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    kind        text NOT NULL CHECK (kind IN ('live', 'test', 'dev', 'tok', 'opr')),
    scope       text NOT NULL CHECK (scope IN ('tenant', 'operator', 'node')),
    node_id     text CHECK ((node_id IS NOT NULL) = (scope = 'node')),
    permissions text[] NOT NULL,
    created     bigint NOT NULL DEFAULT cresset_now_us(),
    created_by  text NOT NULL,
    expires     bigint,
    revoked     bigint,
    last_used   bigint,
    version     bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, key_id)
);
CREATE TABLE api_secret (
    tenant_id  text NOT NULL,
    key_id     text NOT NULL,
    credential text NOT NULL UNIQUE CHECK (length(credential) = 12), -- the id in crs_KIND_ID_…
    hash       bytea NOT NULL CHECK (octet_length(hash) = 32),
    pepper     text NOT NULL, -- the id of the pepper that it was hashed under
    created    bigint NOT NULL DEFAULT cresset_now_us(),
    until_us   bigint, -- of one that was rotated away: when it ends
    PRIMARY KEY (tenant_id, key_id, credential),
    FOREIGN KEY (tenant_id, key_id) REFERENCES api_key
);
CALL cresset_of_tenants('api_key');
CALL cresset_of_tenants('api_secret');
GRANT SELECT, INSERT, UPDATE ON api_key, api_secret TO cresset_app, cresset_engine;

-- Console sessions and the codes that begin them. Found by hash, before a tenant is known: only the
-- engine's role, which credentials are looked up as, reads them.
CREATE TABLE session (
    hash        bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    tenant_id   text NOT NULL,
    actor       text NOT NULL,
    permissions text[] NOT NULL,
    created     bigint NOT NULL DEFAULT cresset_now_us(),
    last_used   bigint NOT NULL DEFAULT cresset_now_us(),
    until_us    bigint NOT NULL,
    ended       bigint
);
CREATE INDEX session_until ON session (until_us);
CREATE TABLE login_code (
    hash      bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    tenant_id text NOT NULL,
    actor     text NOT NULL,
    created   bigint NOT NULL DEFAULT cresset_now_us(),
    until_us  bigint NOT NULL,
    used      bigint
);
-- A token that enrols one node, once; the answer is the same again for the same vkey (compute.md).
CREATE TABLE enrollment (
    credential    text PRIMARY KEY CHECK (length(credential) = 12),
    enrollment_id text NOT NULL UNIQUE,
    hash          bytea NOT NULL CHECK (octet_length(hash) = 32),
    pepper        text NOT NULL,
    name          text, -- of the node that may use it; null: any
    created       bigint NOT NULL DEFAULT cresset_now_us(),
    created_by    text NOT NULL,
    until_us      bigint NOT NULL,
    used          bigint,
    vkey          text CHECK ((vkey IS NULL) = (used IS NULL)),
    node_id       text,
    answer        bytea -- sealed
);
GRANT SELECT, INSERT, UPDATE, DELETE ON session, login_code TO cresset_engine;
GRANT SELECT, INSERT, UPDATE ON enrollment TO cresset_engine;

-- What a key of a client stands for, written with the effect (J2). Kept 7 days.
CREATE TABLE idempotency (
    tenant_id      text NOT NULL,
    key            text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    request_sha256 bytea NOT NULL CHECK (octet_length(request_sha256) = 32),
    sealed         boolean NOT NULL DEFAULT false,
    answer         bytea, -- JSON of the reply; sealed where it holds a secret
    created        bigint NOT NULL DEFAULT cresset_now_us(),
    PRIMARY KEY (tenant_id, key)
) WITH (fillfactor = 70);
CREATE INDEX idempotency_created ON idempotency (created);
CALL cresset_of_tenants('idempotency');
GRANT SELECT, INSERT, UPDATE ON idempotency TO cresset_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency TO cresset_engine;
