-- What compute nodes ask. Connection: engine_db.

-- name: node_by_id
SELECT node_id AS node, name, state, node_epoch, boot, vkey, engine FROM node WHERE node_id = $1

-- name: node_lock
SELECT node_id AS node, name, state, node_epoch, boot, vkey, engine FROM node WHERE node_id = $1 FOR UPDATE

-- name: node_enrollment
SELECT credential, hash, until_us, used, name, vkey, node_id AS node, answer
  FROM enrollment WHERE credential = $1 FOR UPDATE

-- name: node_enrollment_use
UPDATE enrollment SET used = $2, vkey = $3, node_id = $4, answer = $5
 WHERE credential = $1 AND used IS NULL

-- name: node_insert
INSERT INTO node (node_id, name, region, zone, block, rack, model, devices, cpu_milli, memory_mib,
                  disk_mib, node_epoch, labels, address, vkey, boot, start_ns, protocol, build,
                  engine, jail, seen)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $12::jsonb, $13, $14, $15, NULL, $16, $17,
        $18, $19, cresset_now_us())

-- name: node_rejoin
-- A new boot: what was said of the old one is forgotten. $12 tells whether the boot is new.
UPDATE node SET zone = $2, block = $3, rack = $4, model = $5, devices = $6, cpu_milli = $7,
                memory_mib = $8, disk_mib = $9, labels = $10::jsonb, address = $11,
                node_epoch = node_epoch + CASE WHEN $12 THEN 1 ELSE 0 END,
                boot = $13, protocol = $14, build = $15, engine = $16, jail = $17,
                statement_seq = CASE WHEN $12 THEN NULL ELSE statement_seq END,
                state = CASE WHEN $12 AND state IN ('ready', 'suspect', 'lost') THEN 'joining'
                             ELSE state END,
                lost = NULL, seen = cresset_now_us(), version = version + 1
 WHERE node_id = $1

-- name: node_card_upsert
INSERT INTO card (node_id, card, model) VALUES ($1, $2, $3)
ON CONFLICT (node_id, card) DO UPDATE SET model = EXCLUDED.model

-- name: node_device_upsert
INSERT INTO device (device_id, node_id, card, model, memory_mib, slices, class, driver)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (device_id) DO UPDATE
   SET card = EXCLUDED.card, model = EXCLUDED.model, memory_mib = EXCLUDED.memory_mib,
       slices = EXCLUDED.slices, class = EXCLUDED.class, driver = EXCLUDED.driver,
       state = CASE WHEN device.state = 'failed' THEN device.state ELSE 'ok' END

-- name: node_devices_gone
UPDATE device SET state = 'gone' WHERE node_id = $1 AND device_id <> ALL ($2) AND state <> 'gone'

-- name: node_device_states
-- Devices that nothing holds begin to be free where their last state was another, or none.
WITH stamped AS (
    UPDATE device d SET stamp_us = greatest(d.stamp_us + 1, cresset_now_us())
     WHERE d.node_id = $1 AND d.lease_id IS NULL AND d.state = 'ok'
       AND coalesce((SELECT s.state FROM device_state s WHERE s.device_id = d.device_id
                      ORDER BY s.at_us DESC LIMIT 1), 0) <> 1
    RETURNING device_id, stamp_us)
INSERT INTO device_state (device_id, at_us, state, reason)
SELECT device_id, stamp_us, 1, 'joined' FROM stamped

-- name: node_api_key_insert
INSERT INTO api_key (tenant_id, key_id, name, kind, scope, node_id, permissions, created_by)
VALUES ('nodes', $1, $2, 'dev', 'node', $3, '{node}', $3)

-- name: node_api_secret_insert
INSERT INTO api_secret (tenant_id, key_id, credential, hash, pepper)
VALUES ('nodes', $1, $2, $3, $4)

-- name: node_end_lease
-- $3 epoch, $4 the state that it ends in, $5 word, $6 detail, $7 moment
UPDATE lease SET state = $4, ended = greatest(granted, $7), word = $5, detail = $6
 WHERE lease_id = $1 AND node_id = $2 AND lease_epoch = $3
   AND state IN ('granted', 'running', 'revoking')

-- name: node_live_leases
SELECT lease_id AS lease, lease_epoch, node_epoch, member, devices, state, tenant_id AS tenant,
       job_id AS job
  FROM lease
 WHERE node_id = $1 AND state IN ('granted', 'running', 'revoking')
 ORDER BY lease_id LIMIT 512

-- name: node_lease_by_id
SELECT l.lease_id AS lease, l.tenant_id AS tenant, l.job_id AS job, l.lease_epoch, l.member,
       l.node_id AS node, l.node_epoch, l.devices, l.state, l.attempt, l.granted, l.started, l.ended,
       l.revoke_reason, l.stop_until, l.boot, n.boot AS node_boot, n.vkey, n.state AS node_state,
       coalesce(v.lease_epoch, j.lease_epoch) AS highest_epoch
  FROM lease l
  JOIN node n ON n.node_id = l.node_id
  JOIN job j ON j.tenant_id = l.tenant_id AND j.job_id = l.job_id
  LEFT JOIN job_live v ON v.tenant_id = l.tenant_id AND v.job_id = l.job_id
 WHERE l.lease_id = $1 AND l.node_id = $2

-- name: node_job_of
SELECT kind, spec, spec_sha256, max_runtime_s FROM job WHERE tenant_id = $1 AND job_id = $2

-- name: node_artifacts_of
-- The artifacts that a job reads, by id or digest. $1 tenant, $2 ids, $3 digests
SELECT artifact_id AS artifact, sha256, size, kind
  FROM artifact
 WHERE tenant_id = $1 AND state = 'held' AND (artifact_id = ANY ($2) OR sha256 = ANY ($3))

-- name: node_resume_of
SELECT c.digest, c.size, c.step
  FROM job_checkpoint c
  JOIN artifact a ON a.tenant_id = c.tenant_id AND a.sha256 = c.digest AND a.state = 'held'
 WHERE c.tenant_id = $1 AND c.job_id = $2
 ORDER BY c.step DESC, c.lease_epoch DESC LIMIT 1

-- name: node_start_lease
UPDATE lease SET state = 'running', started = greatest(granted, cresset_now_us()), boot = $4,
                 runner = $5, engine_class = $6
 WHERE lease_id = $1 AND node_id = $2 AND lease_epoch = $3 AND state = 'granted'

-- name: node_start_job
UPDATE job_live SET state = 'running', code = NULL, reason = NULL
 WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3 AND state = 'placing'

-- name: node_progress_seq
SELECT progress_seq AS seq, progress_sha256 AS sha256
  FROM lease_meter WHERE tenant_id = $1 AND lease_id = $2 FOR UPDATE

-- name: node_progress_taken
UPDATE lease_meter SET progress_seq = $3, progress_sha256 = $4 WHERE tenant_id = $1 AND lease_id = $2

-- name: node_progress_step
INSERT INTO job_progress (tenant_id, job_id, lease_epoch, step, steps, phase, at_us)
VALUES ($1, $2, $3, $4, $5, $6, cresset_now_us())
ON CONFLICT (tenant_id, job_id) DO UPDATE
   SET lease_epoch = EXCLUDED.lease_epoch, step = EXCLUDED.step, steps = EXCLUDED.steps,
       phase = EXCLUDED.phase, at_us = EXCLUDED.at_us
 WHERE job_progress.lease_epoch <= EXCLUDED.lease_epoch

-- name: node_chunk_sizes
SELECT coalesce(sum(octet_length(payload)) FILTER (WHERE stream = 'log'), 0)::bigint AS log,
       coalesce(sum(octet_length(payload)) FILTER (WHERE stream = 'points'), 0)::bigint AS points
  FROM job_chunk WHERE tenant_id = $1 AND job_id = $2

-- name: node_chunk_insert
INSERT INTO job_chunk (tenant_id, job_id, lease_epoch, member, stream, seq, first_step, start_at,
                       payload, dropped)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: node_artifact_held
SELECT 1 FROM artifact WHERE tenant_id = $1 AND sha256 = $2 AND state = 'held'

-- name: node_checkpoint_insert
INSERT INTO job_checkpoint (tenant_id, job_id, lease_epoch, step, digest, size, held_ns, accepted_us)
VALUES ($1, $2, $3, $4, $5, $6, $7, cresset_now_us())
ON CONFLICT (tenant_id, job_id, lease_epoch, step) DO NOTHING
