-- artifacts: $1 is always the tenant. Read and written as cresset_app for tenants, and as
-- cresset_engine for the nodes that run their jobs.

-- name: artifacts_insert
INSERT INTO artifact (tenant_id, artifact_id, sha256, size, kind, state, name, job_id)
VALUES ($1, $2, $3, $4, $5, 'uploading', $6, $7)
    ON CONFLICT (tenant_id, sha256) WHERE state <> 'deleted' DO NOTHING

-- name: artifacts_by_digest
SELECT artifact_id AS artifact, encode(sha256, 'hex') AS sha256, size, kind, state,
       received AS "offset", name, created, job_id AS job, version
  FROM artifact WHERE tenant_id = $1 AND sha256 = $2 AND state <> 'deleted'

-- name: artifacts_by_id
SELECT artifact_id AS artifact, encode(sha256, 'hex') AS sha256, size, kind, state,
       received AS "offset", name, created, job_id AS job, version
  FROM artifact WHERE tenant_id = $1 AND artifact_id = $2 AND state <> 'deleted'

-- name: artifacts_page
SELECT artifact_id AS artifact, encode(sha256, 'hex') AS sha256, size, kind, state,
       received AS "offset", name, created, job_id AS job, version
  FROM artifact
 WHERE tenant_id = $1 AND state <> 'deleted'
   AND ($2::text IS NULL OR artifact_id < $2) AND ($3::text IS NULL OR job_id = $3)
   AND ($4::bytea IS NULL OR sha256 = $4) AND ($5::text IS NULL OR kind = $5)
 ORDER BY artifact_id DESC LIMIT $6

-- name: artifacts_received
-- An upload goes on from $3 to $4; no row where another request has moved it meanwhile.
UPDATE artifact SET received = $4, version = version + 1
 WHERE tenant_id = $1 AND artifact_id = $2 AND state = 'uploading' AND received = $3

-- name: artifacts_restart
UPDATE artifact SET received = 0, version = version + 1
 WHERE tenant_id = $1 AND artifact_id = $2 AND state = 'uploading'

-- name: artifacts_hold
UPDATE artifact
   SET received = size, state = 'held', held = cresset_now_us(), version = version + 1
 WHERE tenant_id = $1 AND artifact_id = $2 AND state = 'uploading'

-- name: artifacts_forget
UPDATE artifact SET state = 'deleted', received = size,
       held = coalesce(held, cresset_now_us()), version = version + 1
 WHERE tenant_id = $1 AND artifact_id = $2 AND state <> 'deleted'

-- name: artifacts_read_by
-- A living job that names the artifact, by id $2 or by digest $3.
SELECT j.job_id AS job
  FROM job_live l JOIN job j ON j.tenant_id = l.tenant_id AND j.job_id = l.job_id
 WHERE l.tenant_id = $1
   AND (position($2 IN j.spec) > 0 OR position('sha256:' || $3 IN j.spec) > 0)
 LIMIT 1
