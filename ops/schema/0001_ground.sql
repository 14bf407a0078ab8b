-- Roles, and the functions that every table uses.
--
-- Roles hold rights and cannot log in; the login roles inherit them: a worker of cressetd from app
-- and ledger, the engine (and what spans tenants: node fetch, renewal, credentials, operators) from
-- engine and ledger. None of them owns anything or passes by row-level security. The owner, as whom
-- migrations run, is the role that runs this; in a region it is cresset_owner.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['cresset_app', 'cresset_engine', 'cresset_ledger'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS', wanted);
        END IF;
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cresset_app_login') THEN
        CREATE ROLE cresset_app_login LOGIN NOSUPERUSER NOBYPASSRLS IN ROLE cresset_app, cresset_ledger;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'cresset_engine_login') THEN
        CREATE ROLE cresset_engine_login LOGIN NOSUPERUSER NOBYPASSRLS
            IN ROLE cresset_engine, cresset_ledger;
    END IF;
END
$$;

-- Ids sort by their bytes, in pages of lists and in the books of the engine.
DO $$
BEGIN
    IF (SELECT datcollate FROM pg_database WHERE datname = current_database()) <> 'C' THEN
        RAISE EXCEPTION 'the database must be made with LC_COLLATE C';
    END IF;
END
$$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO cresset_app, cresset_engine, cresset_ledger;

-- The tenant of this transaction. Where none is set it raises, so that a forgotten one is an error
-- and never an empty answer; after a transaction the setting is '' and not unset (tenant.1).
CREATE FUNCTION cresset_tenant() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    tenant text := current_setting('cresset.tenant', true);
BEGIN
    IF tenant IS NULL OR tenant = '' THEN
        RAISE EXCEPTION 'no tenant is set for this transaction' USING ERRCODE = '42501';
    END IF;
    RETURN tenant;
END
$$;

-- The region's clock: microseconds of UTC.
CREATE FUNCTION cresset_now_us() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- Labels as names and values in turn, sorted by name: what base/db reads as CR_LABELS.
CREATE FUNCTION cresset_labels(labels jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(part ORDER BY key COLLATE "C", place), '{}')
    FROM jsonb_each_text(labels), LATERAL (VALUES (key, 1), (value, 2)) AS parts (part, place)
$$;

-- Says that a table holds tenants' rows: forced row-level security, by which cresset_app and
-- cresset_ledger see the tenant of the transaction, and cresset_engine all.
CREATE PROCEDURE cresset_of_tenants(name text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY of_tenant ON %I TO cresset_app, cresset_ledger '
                   'USING (tenant_id = (SELECT cresset_tenant())) '
                   'WITH CHECK (tenant_id = (SELECT cresset_tenant()))', name);
    EXECUTE format('CREATE POLICY of_region ON %I TO cresset_engine '
                   'USING (true) WITH CHECK (true)', name);
END
$$;

-- Which migrations have been applied.
CREATE TABLE IF NOT EXISTS schema_migration (
    number     int PRIMARY KEY,
    name       text NOT NULL,
    applied_us bigint NOT NULL DEFAULT cresset_now_us()
);
GRANT SELECT ON schema_migration TO cresset_app, cresset_engine;
