-- Jobs of a tenant. What is shown comes from the view job_row, with the last lease and the progress.

-- name: jobs_tenant
SELECT t.state, t.job_limit,
       (SELECT coalesce(sum(c.jobs), 0) FROM job_count c
        WHERE c.tenant_id = $1 AND c.state IN ('queued', 'placing', 'running', 'stopping'))::bigint
           AS live,
       (SELECT p.price_id FROM price p
        WHERE p.region = $2 AND (p.tenant_id IS NULL OR p.tenant_id = $1) AND p.flavor = $3
          AND p.meter = 1 AND p.from_us <= cresset_now_us()
        ORDER BY p.tenant_id NULLS LAST, p.from_us DESC LIMIT 1) AS price,
       (SELECT value FROM class WHERE name = $4) AS priority
FROM tenant t WHERE t.tenant_id = $1

-- name: jobs_artifacts
SELECT artifact_id AS artifact, encode(sha256, 'hex') AS sha256, kind
FROM artifact WHERE tenant_id = $1 AND state = 'held'
  AND (artifact_id = ANY ($2::text[]) OR encode(sha256, 'hex') = ANY ($3::text[]))

-- name: jobs_insert
WITH inserted AS (
    INSERT INTO job (tenant_id, job_id, name, labels, kind, queue, class, price_id, spec, spec_sha256,
                     max_runtime_s, stop_grace_s, retry_max, retry_on, submitted, submitted_by)
    VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::text[],
            cresset_now_us(), $15)
)
INSERT INTO job_live (tenant_id, job_id, queue_id, priority, state, not_before, queue_until)
VALUES ($1, $2, $6, $16, 'queued', $17, cresset_now_us() + $18 * 1000000)

-- name: jobs_page
SELECT r.job FROM job_row r
WHERE r.tenant_id = $1 AND r.job < $2
  AND ($3::text IS NULL OR r.kind = $3)
  AND ($4::text IS NULL OR r.name LIKE $4)
  AND ($5::jsonb IS NULL OR r.label_set @> $5)
  AND ($6::bigint IS NULL OR r.submitted >= $6) AND ($7::bigint IS NULL OR r.submitted < $7)
ORDER BY r.job DESC LIMIT $8

-- name: jobs_page_ended
SELECT r.job FROM job_row r
WHERE r.tenant_id = $1 AND r.job < $2 AND r.terminal = $9
  AND ($3::text IS NULL OR r.kind = $3)
  AND ($4::text IS NULL OR r.name LIKE $4)
  AND ($5::jsonb IS NULL OR r.label_set @> $5)
  AND ($6::bigint IS NULL OR r.submitted >= $6) AND ($7::bigint IS NULL OR r.submitted < $7)
ORDER BY r.job DESC LIMIT $8

-- name: jobs_page_live
SELECT l.job_id AS job FROM job_live l JOIN job j USING (tenant_id, job_id)
WHERE l.tenant_id = $1 AND l.job_id < $2 AND l.state = $9
  AND ($3::text IS NULL OR j.kind = $3)
  AND ($4::text IS NULL OR j.name LIKE $4)
  AND ($5::jsonb IS NULL OR j.labels @> $5)
  AND ($6::bigint IS NULL OR j.submitted >= $6) AND ($7::bigint IS NULL OR j.submitted < $7)
ORDER BY l.job_id DESC LIMIT $8

-- name: jobs_rows
SELECT r.job, r.name, r.labels, r.kind, r.state, r.code, r.reason, r.mark, r.queue, r.class, r.spec,
       r.price, r.submitted, s.started, r.ended, r.attempt, r.lease_epoch, p.step, p.steps, p.phase,
       n.name AS node, e.flavor, e.engine_class, r.outputs, r.metrics, r.record, r.device_ns,
       r.cost_microusd, r.version
FROM job_row r
LEFT JOIN LATERAL (SELECT min(l.started) AS started FROM lease l
                   WHERE l.tenant_id = r.tenant_id AND l.job_id = r.job) s ON true
LEFT JOIN LATERAL (SELECT l.node_id, l.flavor, l.engine_class FROM lease l
                   WHERE l.tenant_id = r.tenant_id AND l.job_id = r.job
                   ORDER BY l.lease_epoch DESC, l.member LIMIT 1) e ON true
LEFT JOIN node n ON n.node_id = e.node_id
LEFT JOIN job_progress p ON p.tenant_id = r.tenant_id AND p.job_id = r.job
WHERE r.tenant_id = $1 AND r.job = ANY ($2::text[])
ORDER BY r.job DESC

-- name: jobs_live
SELECT state, lease_epoch, stop_cause FROM job_live WHERE tenant_id = $1 AND job_id = $2 FOR UPDATE

-- name: jobs_stop
UPDATE job_live SET state = 'stopping', stop_cause = $5, stop_until = cresset_now_us() + $6 * 1000000,
       code = NULL, reason = NULL
WHERE tenant_id = $1 AND job_id = $2 AND state = $3 AND lease_epoch = $4

-- name: jobs_revoke
UPDATE lease SET state = 'revoking', revoke_reason = $4, stop_until = cresset_now_us() + $5 * 1000000
WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3 AND state IN ('granted', 'running')

-- name: jobs_end_live
DELETE FROM job_live
WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3 AND state = ANY ($4::text[])
RETURNING attempt, version

-- name: jobs_end_job
UPDATE job SET terminal = $3, code = $4, reason = $5, ended = coalesce($6, cresset_now_us()),
       lease_epoch = $7, attempt = $8, outputs = $9, metrics = $10, result_sha256 = $11,
       record_id = $12, device_ns = $13, amount_zepto = $14::numeric, version = $15
WHERE tenant_id = $1 AND job_id = $2 AND terminal IS NULL

-- name: jobs_counts
SELECT to_char(date '1970-01-01' + day, 'YYYY-MM-DD') AS day, state, jobs
FROM job_count WHERE tenant_id = $1 AND jobs > 0 ORDER BY job_count.day DESC, state LIMIT 800

-- name: jobs_count_totals
SELECT state, sum(jobs)::bigint AS jobs FROM job_count WHERE tenant_id = $1 GROUP BY state ORDER BY state

-- name: jobs_leases
SELECT l.lease_id AS lease, l.lease_epoch, l.attempt, l.state, n.name AS node,
       ARRAY(SELECT split_part(d, '/', 2) FROM unnest(l.devices) d) AS devices, l.engine_class,
       l.granted, l.started, l.ended, l.revoke_reason, l.word, l.detail
FROM lease l JOIN node n USING (node_id)
WHERE l.tenant_id = $1 AND l.job_id = $2 ORDER BY l.lease_epoch DESC, l.member LIMIT 500

-- name: jobs_made
SELECT o.key AS name, a.artifact_id AS artifact, a.kind, encode(a.sha256, 'hex') AS sha256, a.size,
       a.created
FROM job j, jsonb_each_text(coalesce(j.outputs, '{}')::jsonb) o
JOIN artifact a ON a.tenant_id = $1 AND a.artifact_id = o.value
WHERE j.tenant_id = $1 AND j.job_id = $2 ORDER BY o.key

-- name: jobs_log_size
SELECT coalesce(sum(octet_length(payload)), 0)::bigint AS size, coalesce(sum(dropped), 0)::bigint
       AS dropped
FROM job_chunk WHERE tenant_id = $1 AND job_id = $2 AND stream = 'log'

-- name: jobs_log_chunks
SELECT start_at, payload FROM job_chunk
WHERE tenant_id = $1 AND job_id = $2 AND stream = 'log' AND start_at + octet_length(payload) > $3
  AND start_at < $4
ORDER BY start_at

-- name: jobs_points
SELECT p.lease_epoch, s.payload AS names, p.payload, p.dropped
FROM job_chunk p
LEFT JOIN job_chunk s ON s.tenant_id = p.tenant_id AND s.job_id = p.job_id AND s.stream = 'series'
     AND s.lease_epoch = p.lease_epoch AND s.member = p.member AND s.seq = p.seq
WHERE p.tenant_id = $1 AND p.job_id = $2 AND p.stream = 'points'
ORDER BY p.lease_epoch, p.member, p.seq

-- name: jobs_rate
SELECT p.rate_pico FROM price p
WHERE p.region = $1 AND (p.tenant_id IS NULL OR p.tenant_id = $2) AND p.flavor = $3 AND p.meter = 1
  AND p.from_us <= cresset_now_us()
ORDER BY p.tenant_id NULLS LAST, p.from_us DESC LIMIT 1

-- name: jobs_lost
SELECT l.state, l.stop_cause, l.platform_losses, l.retries, j.retry_max, j.retry_on,
       count(e.*) AS bad, count(DISTINCT e.node_id) AS bad_nodes
FROM (SELECT * FROM job_live WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3
        AND state IN ('placing', 'running', 'stopping') FOR UPDATE) l
JOIN job j USING (tenant_id, job_id)
LEFT JOIN lease e ON e.tenant_id = l.tenant_id AND e.job_id = l.job_id AND e.word = ANY ($4::text[])
GROUP BY l.state, l.stop_cause, l.platform_losses, l.retries, j.retry_max, j.retry_on

-- name: jobs_requeue
UPDATE job_live SET state = 'queued', stop_cause = NULL, stop_until = NULL, code = $4, reason = $5,
       mark = $6, platform_losses = platform_losses + $7, retries = retries + $8,
       preempted = preempted + $9, not_before = cresset_now_us() + $10
WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3
  AND state IN ('placing', 'running', 'stopping')

-- name: jobs_limits
SELECT tenant_id AS tenant, device_limit, state = 'active' AS active FROM tenant WHERE tenant_id = $1
