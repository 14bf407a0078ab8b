-- identity: credentials and sessions, looked up before a tenant is known. As cresset_engine.

-- name: identity_secret
-- The key of a credential's id. $1 id. left_us: how long it still lives; null: for ever
SELECT s.key_id AS key, s.hash, s.pepper, k.tenant_id AS tenant, k.kind, k.scope, k.node_id AS node,
       array_to_string(k.permissions, ',') AS permissions, k.revoked IS NOT NULL AS revoked,
       least(k.expires, s.until_us) - cresset_now_us() AS left_us,
       coalesce(t.state <> 'active', false) AS suspended,
       coalesce(k.last_used < cresset_now_us() - $2, true) AS stale
  FROM api_secret s
  JOIN api_key k ON k.tenant_id = s.tenant_id AND k.key_id = s.key_id
  LEFT JOIN tenant t ON t.tenant_id = k.tenant_id
 WHERE s.credential = $1

-- name: identity_key_used
UPDATE api_key SET last_used = cresset_now_us()
 WHERE tenant_id = $1 AND key_id = $2
   AND coalesce(last_used < cresset_now_us() - $3, true)

-- name: identity_session
-- A session that lives. $1 hash, $2 and $3 idle time of tenants and of operators, $4 as $2 above
SELECT s.tenant_id AS tenant, s.actor, array_to_string(s.permissions, ',') AS permissions,
       coalesce(t.state <> 'active', false) AS suspended,
       s.last_used < cresset_now_us() - $4 AS stale
  FROM session s LEFT JOIN tenant t ON t.tenant_id = s.tenant_id
 WHERE s.hash = $1 AND s.ended IS NULL AND s.until_us > cresset_now_us()
   AND s.last_used > cresset_now_us() - CASE s.tenant_id WHEN 'operators' THEN $3::bigint ELSE $2::bigint END

-- name: identity_session_used
UPDATE session SET last_used = cresset_now_us() WHERE hash = $1

-- name: identity_key_lives
SELECT 1 FROM api_key
 WHERE tenant_id = $1 AND key_id = $2 AND revoked IS NULL
   AND coalesce(expires > cresset_now_us(), true)

-- name: identity_session_lives
SELECT 1 FROM session WHERE hash = $1 AND ended IS NULL AND until_us > cresset_now_us()
