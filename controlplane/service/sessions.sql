-- sessions: codes and sessions. As cresset_engine, since they are found before a tenant is known.

-- name: sessions_tenant
SELECT tenant_id AS tenant FROM tenant WHERE name = $1 AND state <> 'closed'

-- name: sessions_code_insert
INSERT INTO login_code (hash, tenant_id, actor, until_us) VALUES ($1, $2, $3, cresset_now_us() + $4)

-- name: sessions_code_use
UPDATE login_code SET used = cresset_now_us()
 WHERE hash = $1 AND used IS NULL AND until_us > cresset_now_us()
RETURNING tenant_id AS tenant, actor

-- name: sessions_insert
-- $4 whole time of tenants, $5 of operators
INSERT INTO session (hash, tenant_id, actor, permissions, until_us)
VALUES ($1, $2, $3, string_to_array($6, ','),
        cresset_now_us() + CASE $2 WHEN 'operators' THEN $5::bigint ELSE $4::bigint END)
RETURNING until_us AS until

-- name: sessions_end
UPDATE session SET ended = cresset_now_us() WHERE hash = $1 AND ended IS NULL
