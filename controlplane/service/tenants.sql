-- tenants: as cresset_engine, but for tenants_limits and tenants_me.

-- name: tenants_insert
INSERT INTO tenant (tenant_id, name, home, device_limit, job_limit)
VALUES ($1, $2, $3, coalesce($4, 64), coalesce($5, 100000))

-- name: tenants_one
SELECT tenant_id AS tenant, name, home, state, residency, device_limit, job_limit, created, version
  FROM tenant WHERE tenant_id = $1

-- name: tenants_page
SELECT tenant_id AS tenant, name, home, state, residency, device_limit, job_limit, created, version
  FROM tenant WHERE $1::text IS NULL OR tenant_id < $1
 ORDER BY tenant_id DESC LIMIT $2

-- name: tenants_set_limits
UPDATE tenant SET device_limit = $3, job_limit = $4, version = version + 1
 WHERE tenant_id = $1 AND version = $2

-- name: tenants_limit_rows
-- The tenant's own: $1.
SELECT 'devices' AS "limit", 'devices' AS unit, t.device_limit AS maximum,
       (SELECT coalesce(sum(cardinality(devices)), 0) FROM lease
         WHERE tenant_id = $1 AND state IN ('running', 'revoking')) AS used,
       (SELECT coalesce(sum(cardinality(devices)), 0) FROM lease
         WHERE tenant_id = $1 AND state = 'granted') AS reserved
  FROM tenant t WHERE t.tenant_id = $1
UNION ALL
SELECT 'jobs', 'jobs', t.job_limit, (SELECT count(*) FROM job_live WHERE tenant_id = $1), 0
  FROM tenant t WHERE t.tenant_id = $1

-- name: tenants_me_row
-- $2 the actor, which may be a key
SELECT t.name AS tenant_name, t.home,
       (SELECT k.name FROM api_key k WHERE k.tenant_id = $1 AND k.key_id = $2) AS name
  FROM tenant t WHERE t.tenant_id = $1
