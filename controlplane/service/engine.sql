-- The engine's statements. Every writing transaction begins with engine_hold (db.7).

-- name: engine_row
INSERT INTO engine (region) VALUES ($1) ON CONFLICT DO NOTHING

-- name: engine_take
UPDATE engine SET epoch = epoch + 1, holder = $2, holder_url = $3, since = cresset_now_us(),
       until_us = cresset_now_us() + $5
WHERE region = $1 AND (until_us < cresset_now_us() OR (holder = $2 AND epoch = $4))
RETURNING epoch, since

-- name: engine_renew
UPDATE engine SET until_us = cresset_now_us() + $3 WHERE region = $1 AND epoch = $2

-- name: engine_leave
UPDATE engine SET until_us = 0 WHERE region = $1 AND epoch = $2

-- name: engine_hold
SELECT 1 AS held FROM engine WHERE region = $1 AND epoch = $2 FOR SHARE

-- name: engine_holder_of
SELECT epoch, holder, since, until_us, until_us > cresset_now_us() AS alive
FROM engine WHERE region = $1

-- What the books are made of

-- name: engine_nodes
SELECT node_id AS node, name, model, node_epoch, memory_mib, state FROM node
WHERE region = $1 ORDER BY node_id

-- name: engine_devices
SELECT d.node_id AS node, d.device_id AS device, d.state FROM device d JOIN node n USING (node_id)
WHERE n.region = $1 ORDER BY d.device_id

-- name: engine_waiting
SELECT l.tenant_id AS tenant, l.job_id AS job, l.state, l.priority, l.lease_epoch, l.not_before,
       l.platform_losses + l.retries > 0 AS backoff, j.spec, t.device_limit,
       t.state = 'active' AS active,
       ARRAY(SELECT DISTINCT e.node_id FROM lease e
             WHERE e.tenant_id = l.tenant_id AND e.job_id = l.job_id AND l.lease_epoch > 0
               AND e.state <> 'released') AS avoid
FROM job_live l JOIN job j USING (tenant_id, job_id) JOIN tenant t USING (tenant_id)
WHERE l.state = 'queued' AND l.job_id > $1 ORDER BY l.job_id LIMIT $2

-- name: engine_jobs
SELECT l.tenant_id AS tenant, l.job_id AS job, l.state, l.priority, l.lease_epoch, l.not_before,
       l.platform_losses + l.retries > 0 AS backoff, j.spec, t.device_limit,
       t.state = 'active' AS active,
       ARRAY(SELECT DISTINCT e.node_id FROM lease e
             WHERE e.tenant_id = l.tenant_id AND e.job_id = l.job_id AND l.lease_epoch > 0
               AND e.state <> 'released') AS avoid
FROM job_live l JOIN job j USING (tenant_id, job_id) JOIN tenant t USING (tenant_id)
WHERE l.job_id = ANY ($1::text[])

-- name: engine_tenants
SELECT tenant_id AS tenant, device_limit, state = 'active' AS active FROM tenant
WHERE tenant_id = ANY ($1::text[])

-- name: engine_leases
SELECT l.tenant_id AS tenant, l.job_id AS job, l.lease_id AS lease, l.node_id AS node,
       l.lease_epoch, l.devices, j.spec, t.device_limit, t.state = 'active' AS active
FROM lease l JOIN job j USING (tenant_id, job_id) JOIN tenant t USING (tenant_id)
WHERE NOT l.settled ORDER BY l.lease_id

-- A batch of grants

-- name: engine_batch_claim
INSERT INTO engine_batch (epoch, no, jobs, decisions, sha256) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING

-- name: engine_batch_read
SELECT accepted FROM engine_batch WHERE epoch = $1 AND no = $2

-- name: engine_batch_finish
UPDATE engine_batch SET accepted = $3 WHERE epoch = $1 AND no = $2

-- name: engine_job_grant
UPDATE job_live l SET state = 'placing', lease_epoch = g.lease_epoch, attempt = l.attempt + 1,
       batch = $4, code = NULL, reason = NULL, mark = NULL, not_before = NULL
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS g (tenant_id, job_id, lease_epoch)
WHERE l.tenant_id = g.tenant_id AND l.job_id = g.job_id AND l.state = 'queued'
  AND l.lease_epoch = g.lease_epoch - 1
RETURNING l.job_id AS job

-- name: engine_device_take
WITH taken AS (
    UPDATE device d SET lease_id = g.lease_id, stamp_us = GREATEST(d.stamp_us + 1, cresset_now_us())
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
         AS g (device_id, lease_id, job_id, lease_epoch)
    WHERE d.device_id = g.device_id AND d.lease_id IS NULL AND d.state = 'ok'
    RETURNING d.device_id, d.node_id, d.card, d.size_milli, d.stamp_us, g.job_id, g.lease_epoch
), stated AS (
    INSERT INTO device_state (device_id, at_us, state, job_id, lease_epoch, member)
    SELECT device_id, stamp_us, 2, job_id, lease_epoch, 0 FROM taken
)
SELECT count(*) AS taken FROM taken

-- name: engine_card_hold
UPDATE card c SET holder = g.tenant_id, held = c.held + g.milli
FROM (SELECT d.node_id, d.card, x.tenant_id, sum(d.size_milli)::int AS milli
      FROM unnest($1::text[], $2::text[]) AS x (device_id, tenant_id) JOIN device d USING (device_id)
      GROUP BY d.node_id, d.card, x.tenant_id) g
WHERE c.node_id = g.node_id AND c.card = g.card AND (c.holder IS NULL OR c.holder = g.tenant_id)

-- name: engine_lease_insert
WITH granted AS (
    INSERT INTO lease (tenant_id, job_id, lease_epoch, lease_id, node_id, node_epoch, devices, flavor,
                       slices, state, attempt, granted)
    SELECT g.tenant_id, g.job_id, g.lease_epoch, g.lease_id, g.node_id, g.node_epoch,
           string_to_array(g.devices, ','), g.flavor,
           (SELECT sum(d.slices)::int FROM device d
            WHERE d.device_id = ANY (string_to_array(g.devices, ','))),
           'granted', l.attempt,
           (SELECT max(d.stamp_us) FROM device d
            WHERE d.device_id = ANY (string_to_array(g.devices, ',')))
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[],
                $7::text[], $8::text[])
         AS g (tenant_id, job_id, lease_epoch, lease_id, node_id, node_epoch, devices, flavor)
    JOIN job_live l ON l.tenant_id = g.tenant_id AND l.job_id = g.job_id
    RETURNING tenant_id, lease_id
)
INSERT INTO lease_meter (tenant_id, lease_id, until_us)
SELECT tenant_id, lease_id, cresset_now_us() + $9 FROM granted

-- Leases that ended give their devices back

-- name: engine_ended
SELECT l.tenant_id AS tenant, l.job_id AS job, l.lease_id AS lease, l.lease_epoch, l.word, l.detail,
       v.job_id IS NOT NULL AS live
FROM lease l
LEFT JOIN job_live v ON v.tenant_id = l.tenant_id AND v.job_id = l.job_id
     AND v.lease_epoch = l.lease_epoch AND v.state IN ('placing', 'running', 'stopping')
WHERE NOT l.settled AND l.ended IS NOT NULL ORDER BY l.ended, l.lease_id LIMIT 256

-- name: engine_settle
WITH over AS (
    UPDATE lease SET settled = true
    WHERE lease_id = ANY ($1::text[]) AND NOT settled AND ended IS NOT NULL
    RETURNING lease_id
), freed AS (
    UPDATE device d SET lease_id = NULL FROM over WHERE d.lease_id = over.lease_id
    RETURNING d.node_id, d.card, d.size_milli
), cards AS (
    UPDATE card c SET held = c.held - f.milli,
           holder = CASE WHEN c.held = f.milli THEN NULL ELSE c.holder END
    FROM (SELECT node_id, card, sum(size_milli)::int AS milli FROM freed GROUP BY node_id, card) f
    WHERE c.node_id = f.node_id AND c.card = f.card
)
SELECT count(*) AS settled FROM over

-- Sweeps

-- name: engine_beats
SELECT l.tenant_id AS tenant, l.job_id AS job, l.lease_id AS lease, l.lease_epoch, l.node_id AS node,
       m.beat, m.until_us < cresset_now_us() AS late
FROM lease l JOIN lease_meter m ON m.tenant_id = l.tenant_id AND m.lease_id = l.lease_id
WHERE NOT l.settled AND l.state IN ('granted', 'running', 'revoking') ORDER BY l.lease_id

-- name: engine_expire
-- The lease ends at the stamp of its devices, which are down from then on: as its node is.
WITH over AS (
    SELECT l.tenant_id, l.lease_id, l.granted
    FROM lease_meter m JOIN lease l ON l.tenant_id = m.tenant_id AND l.lease_id = m.lease_id
    WHERE m.tenant_id = $1 AND m.lease_id = $2 AND m.beat = $3 AND m.until_us < cresset_now_us()
      AND l.state IN ('granted', 'running', 'revoking')
    FOR UPDATE
), at AS (
    SELECT GREATEST(max(d.stamp_us) + 1, max(o.granted), cresset_now_us()) AS us
    FROM over o JOIN device d ON d.lease_id = o.lease_id
), stamped AS (
    UPDATE device d SET stamp_us = at.us FROM over o, at WHERE d.lease_id = o.lease_id
    RETURNING d.device_id
), stated AS (
    INSERT INTO device_state (device_id, at_us, state, reason)
    SELECT device_id, at.us, 3, 'down' FROM stamped, at
)
UPDATE lease l SET state = 'expired', ended = at.us, word = 'node_lost',
       detail = 'its node did not renew it'
FROM over o, at WHERE l.tenant_id = o.tenant_id AND l.lease_id = o.lease_id

-- name: engine_devices_back
WITH stamped AS (
    UPDATE device d SET stamp_us = GREATEST(d.stamp_us + 1, cresset_now_us()) FROM node n
    WHERE n.node_id = d.node_id AND n.region = $1 AND n.state = 'ready' AND d.lease_id IS NULL
      AND d.state = 'ok'
      AND (SELECT s.state = 3 AND s.reason = 'down' FROM device_state s
           WHERE s.device_id = d.device_id ORDER BY s.at_us DESC LIMIT 1)
    RETURNING d.device_id, d.stamp_us
)
INSERT INTO device_state (device_id, at_us, state, reason)
SELECT device_id, stamp_us, 1, 'back' FROM stamped

-- name: engine_clock
SELECT cresset_now_us() AS now_us

-- name: engine_clock_stepped
UPDATE lease_meter m SET until_us = cresset_now_us() + $1 FROM lease l
WHERE l.tenant_id = m.tenant_id AND l.lease_id = m.lease_id
  AND l.state IN ('granted', 'running', 'revoking')

-- name: engine_overdue
SELECT l.tenant_id AS tenant, l.job_id AS job, l.lease_epoch, l.state,
       CASE WHEN l.state = 'queued' THEN 'queue'
            WHEN l.state = 'running' THEN 'deadline' ELSE 'start' END AS what,
       j.stop_grace_s
FROM job_live l JOIN job j USING (tenant_id, job_id)
LEFT JOIN lease e ON e.tenant_id = l.tenant_id AND e.job_id = l.job_id
     AND e.lease_epoch = l.lease_epoch AND e.state IN ('granted', 'running', 'revoking')
WHERE (l.state = 'queued' AND l.queue_until < cresset_now_us())
   OR (l.state = 'placing' AND e.granted + $1 < cresset_now_us())
   OR (l.state = 'stopping' AND e.state = 'revoking' AND e.started IS NULL)
   OR (l.state = 'running' AND e.started + j.max_runtime_s * 1000000 < cresset_now_us())
ORDER BY l.job_id LIMIT 256

-- name: engine_revoke_unstarted
-- A lease that never started holds nothing on its node: once it is to stop, or has waited too long for
-- its start, it ends at once. A start that comes later finds it ended.
WITH over AS (
    SELECT tenant_id, lease_id, granted, state = 'revoking' AS stopped FROM lease
    WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3 AND state IN ('granted', 'revoking')
      AND started IS NULL
    FOR UPDATE
), at AS (
    SELECT GREATEST(max(d.stamp_us) + 1, max(o.granted), cresset_now_us()) AS us
    FROM over o JOIN device d ON d.lease_id = o.lease_id
), stamped AS (
    UPDATE device d SET stamp_us = at.us FROM over o, at WHERE d.lease_id = o.lease_id
    RETURNING d.device_id
), stated AS (
    INSERT INTO device_state (device_id, at_us, state, reason)
    SELECT device_id, at.us, 1, 'not started' FROM stamped, at
)
UPDATE lease l SET state = 'revoked', ended = at.us,
       revoke_reason = coalesce(l.revoke_reason, 'start'),
       word = CASE WHEN o.stopped THEN 'stopped' ELSE 'node_lost' END,
       detail = CASE WHEN o.stopped THEN 'it was stopped before it started'
                     ELSE 'it was not started in time' END
FROM over o, at WHERE l.tenant_id = o.tenant_id AND l.lease_id = o.lease_id

-- name: engine_nodes_suspect
-- What they do not hold for a lease is down from now on; what they do is, when the lease expires.
WITH silent AS (
    UPDATE node SET state = 'suspect', reason = 'it does not renew', lost = cresset_now_us(),
           version = version + 1
    WHERE region = $1 AND state IN ('ready', 'joining') AND seen < cresset_now_us() - $2
    RETURNING node_id
), stamped AS (
    UPDATE device d SET stamp_us = GREATEST(d.stamp_us + 1, cresset_now_us()) FROM silent s
    WHERE d.node_id = s.node_id AND d.lease_id IS NULL AND d.state = 'ok'
    RETURNING d.device_id, d.stamp_us
)
INSERT INTO device_state (device_id, at_us, state, reason)
SELECT device_id, stamp_us, 3, 'down' FROM stamped

-- name: engine_nodes_lost
UPDATE node SET state = 'lost', version = version + 1
WHERE region = $1 AND state = 'suspect' AND lost < cresset_now_us() - $2
RETURNING node_id AS node

-- The sequencer

-- name: engine_pending
SELECT EXISTS (SELECT FROM outbox) AS told,
       EXISTS (SELECT FROM lease WHERE NOT settled AND ended IS NOT NULL) AS ended

-- name: engine_outbox_insert
INSERT INTO outbox (tenant_id, type, subject, body)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])

-- name: engine_outbox
SELECT n, tenant_id AS tenant, type, subject, body, at_us FROM outbox
WHERE xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, n LIMIT $1

-- name: engine_outbox_delete
DELETE FROM outbox WHERE n = ANY ($1::bigint[])

-- name: engine_seq_take
INSERT INTO event_seq AS s (region, tenant_id, seq)
SELECT $1, g.tenant_id, g.rows FROM unnest($2::text[], $3::bigint[]) AS g (tenant_id, rows)
ON CONFLICT (region, tenant_id) DO UPDATE SET seq = s.seq + excluded.seq
RETURNING tenant_id AS tenant, seq

-- name: engine_event_insert
INSERT INTO event (region, seq, event_id, tenant_id, tenant_seq, type, subject, body, timestamp)
SELECT $1, e.seq, e.event_id, e.tenant_id, e.tenant_seq, e.type, e.subject, o.body, e.at_us
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[],
            $9::bigint[])
     AS e (seq, event_id, tenant_id, tenant_seq, type, subject, at_us, n)
JOIN outbox o USING (n)

-- name: engine_count_fold
WITH told AS (
    SELECT DISTINCT ON (x.job_id) x.tenant_id, x.job_id, x.state,
           (j.submitted / 86400000000)::int AS day
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS x (tenant_id, job_id, state, place)
    JOIN job j ON j.tenant_id = x.tenant_id AND j.job_id = x.job_id
    ORDER BY x.job_id, x.place DESC
), before AS (
    SELECT c.tenant_id, c.job_id, c.day, c.state FROM job_counted c JOIN told USING (tenant_id, job_id)
), kept AS (
    INSERT INTO job_counted AS c (tenant_id, job_id, day, state)
    SELECT tenant_id, job_id, day, state FROM told
    ON CONFLICT (tenant_id, job_id) DO UPDATE SET state = excluded.state
), changes AS (
    SELECT tenant_id, day, state, sum(by)::bigint AS by
    FROM (SELECT tenant_id, day, state, 1 AS by FROM told
          UNION ALL SELECT tenant_id, day, state, -1 FROM before) c
    GROUP BY tenant_id, day, state HAVING sum(by) <> 0
)
INSERT INTO job_count AS c (tenant_id, day, state, jobs)
SELECT tenant_id, day, state, GREATEST(by, 0) FROM changes
ON CONFLICT (tenant_id, day, state)
DO UPDATE SET jobs = c.jobs + (SELECT by FROM changes x
                               WHERE x.tenant_id = c.tenant_id AND x.day = c.day AND x.state = c.state)

-- Why classes of jobs wait

-- name: engine_park_drop
DELETE FROM park WHERE class_key <> ALL ($1::text[])

-- name: engine_park_write
INSERT INTO park AS p (class_key, why, since, jobs, wake)
SELECT g.class_key, g.why, cresset_now_us(), g.jobs, g.wake
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS g (class_key, why, jobs, wake)
ON CONFLICT (class_key) DO UPDATE
SET jobs = excluded.jobs, wake = excluded.wake, why = excluded.why,
    since = CASE WHEN p.why = excluded.why THEN p.since ELSE excluded.since END

-- Keeping

-- name: engine_forget_keys
DELETE FROM idempotency WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency
    WHERE created < cresset_now_us() - $1 LIMIT 1000))

-- name: engine_forget_events
DELETE FROM event WHERE ctid = ANY (ARRAY(SELECT ctid FROM event
    WHERE timestamp < cresset_now_us() - $1 LIMIT 1000))

-- name: engine_forget_batches
DELETE FROM engine_batch WHERE ctid = ANY (ARRAY(SELECT ctid FROM engine_batch
    WHERE created < cresset_now_us() - $1 LIMIT 1000))

-- name: engine_forget_sessions
DELETE FROM session WHERE until_us < cresset_now_us()
