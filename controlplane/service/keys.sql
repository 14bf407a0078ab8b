-- keys: the keys of a tenant. $1 is always the tenant.

-- name: keys_insert
-- $9 life; null: without end. $10 a moment instead
INSERT INTO api_key (tenant_id, key_id, name, kind, scope, node_id, permissions, created_by, expires)
VALUES ($1, $2, $3, $4, $5, $6, string_to_array($7, ','), $8,
        coalesce($10::bigint, cresset_now_us() + $9::bigint))

-- name: keys_secret_insert
INSERT INTO api_secret (tenant_id, key_id, credential, hash, pepper) VALUES ($1, $2, $3, $4, $5)

-- name: keys_secret_retire
-- Those that live now end in $3, if they do not end sooner.
UPDATE api_secret SET until_us = least(until_us, cresset_now_us() + $3)
 WHERE tenant_id = $1 AND key_id = $2

-- name: keys_live_count
SELECT count(*) AS count FROM api_key
 WHERE tenant_id = $1 AND revoked IS NULL AND coalesce(expires > cresset_now_us(), true)

-- name: keys_one
SELECT key_id AS key, name, kind, permissions, created, created_by, expires, revoked, last_used,
       version,
       CASE WHEN revoked IS NOT NULL THEN 'revoked'
            WHEN expires <= cresset_now_us() THEN 'expired' ELSE 'active' END AS state
  FROM api_key WHERE tenant_id = $1 AND key_id = $2 AND scope = 'tenant'

-- name: keys_page
SELECT key_id AS key, name, kind, permissions, created, created_by, expires, revoked, last_used,
       version,
       CASE WHEN revoked IS NOT NULL THEN 'revoked'
            WHEN expires <= cresset_now_us() THEN 'expired' ELSE 'active' END AS state
  FROM api_key
 WHERE tenant_id = $1 AND scope = 'tenant' AND ($2::text IS NULL OR key_id < $2)
 ORDER BY key_id DESC LIMIT $3

-- name: keys_change
UPDATE api_key
   SET name = coalesce($4, name), version = version + 1,
       permissions = CASE WHEN $5::text IS NULL THEN permissions ELSE string_to_array($5, ',') END
 WHERE tenant_id = $1 AND key_id = $2 AND version = $3 AND revoked IS NULL

-- name: keys_touch
UPDATE api_key SET version = version + 1
 WHERE tenant_id = $1 AND key_id = $2 AND revoked IS NULL

-- name: keys_end
UPDATE api_key SET revoked = cresset_now_us(), version = version + 1
 WHERE tenant_id = $1 AND key_id = $2 AND version = $3 AND revoked IS NULL
