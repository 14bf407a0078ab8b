-- What all use cases share: keys of idempotency, leaves of the audit log, outbox rows.

-- name: service_claim
INSERT INTO idempotency (tenant_id, key, request_sha256)
VALUES ($1, $2, $3) ON CONFLICT DO NOTHING

-- name: service_claimed
SELECT request_sha256, sealed, answer FROM idempotency WHERE tenant_id = $1 AND key = $2

-- name: service_answered
UPDATE idempotency SET answer = $3, sealed = $4 WHERE tenant_id = $1 AND key = $2

-- name: service_leaf_insert
WITH leaf AS (
    INSERT INTO audit_leaf (tenant_id, kind, actor, object, at_us, salt, payload, entry)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING leaf_id
), queued AS (
    INSERT INTO leaf_queue SELECT leaf_id FROM leaf
)
SELECT leaf_id FROM leaf

-- name: service_outbox_insert
INSERT INTO outbox (tenant_id, type, subject, body) VALUES ($1, $2, $3, $4)

