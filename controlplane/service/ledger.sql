-- The ledger: meters, usage records, charges, prices, and the log's leaves (ledger.md section 5).

-- name: ledger_node
SELECT node_id AS node, vkey, boot, state, statement_seq FROM node WHERE node_id = $1

-- name: ledger_leaf_at
SELECT seq FROM leaf_seq WHERE leaf_id = $1

-- Devices ----------------------------------------------------------------------------------------

-- name: ledger_stamp_devices
-- $1 devices, $2 state, $3 job, $4 lease epoch, $5 member, $6 reason. One stamp for all; it grows only.
WITH locked AS (
    SELECT device_id, stamp_us FROM device WHERE device_id = ANY ($1::text[]) ORDER BY device_id
    FOR UPDATE
), clock AS (
    SELECT greatest(cresset_now_us(), max(stamp_us) + 1) AS at_us FROM locked
), stamped AS (
    UPDATE device d SET stamp_us = c.at_us FROM clock c WHERE d.device_id = ANY ($1::text[])
), written AS (
    INSERT INTO device_state (device_id, at_us, state, job_id, lease_epoch, member, reason)
    SELECT l.device_id, c.at_us, $2::smallint, $3, $4, $5::int, $6 FROM locked l, clock c
)
SELECT at_us, (SELECT count(*) FROM locked) AS devices FROM clock

-- Renewals ---------------------------------------------------------------------------------------

-- name: ledger_renew_leases
SELECT l.lease_id AS lease, l.tenant_id AS tenant, l.job_id AS job, l.lease_epoch, l.member, l.state,
       l.boot, l.revoke_reason, l.slices,
       greatest(0, (coalesce(l.stop_until, 0) - cresset_now_us() + 999999) / 1000000) AS grace_s,
       m.seq, m.state AS meter_state, m.slices AS slices_read, m.acquire_ns, m.mono_ns, m.held_ns,
       m.busy_ns, m.energy_mj, m.from_us, m.received_us, m.reading, cresset_now_us() AS now_us
FROM lease l LEFT JOIN lease_meter m USING (tenant_id, lease_id)
WHERE l.lease_id = ANY ($1::text[]) AND l.node_id = $2
ORDER BY l.lease_id FOR SHARE OF l

-- name: ledger_renew_meters
-- Readings that are newer. $1 tenants, $2 leases, $3 boot, $4 seq, $5 state, $6 slices, $7 acquire,
-- $8 mono, $9 held, $10 busy and $11 energy (-1: not known), $12 from_us, $13 received_us, $14 reading,
-- $15 index, $16 size, $17 path, $18 statement, $19 signature, $20 ttl in us
INSERT INTO lease_meter AS m
       (tenant_id, lease_id, until_us, beat, boot, seq, state, slices, acquire_ns, mono_ns, held_ns,
        busy_ns, energy_mj, from_us, received_us, reading, leaf_index, tree_size, path, statement,
        signature)
SELECT tenant, lease, cresset_now_us() + $20, 1, $3, seq, state, slices, acquire, mono, held,
       nullif(busy, -1), nullif(energy, -1), from_us, $13, reading, leaf_index, tree_size, path, $18, $19
FROM unnest($1::text[], $2::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $14::bytea[], $15::bigint[],
            $16::bigint[], $17::bytea[])
     AS r (tenant, lease, seq, state, slices, acquire, mono, held, busy, energy, from_us, reading,
           leaf_index, tree_size, path)
ON CONFLICT (tenant_id, lease_id) DO UPDATE
SET until_us = EXCLUDED.until_us, beat = m.beat + 1, boot = EXCLUDED.boot, seq = EXCLUDED.seq,
    state = EXCLUDED.state, slices = EXCLUDED.slices, acquire_ns = EXCLUDED.acquire_ns,
    mono_ns = EXCLUDED.mono_ns, held_ns = EXCLUDED.held_ns, busy_ns = EXCLUDED.busy_ns,
    energy_mj = EXCLUDED.energy_mj, from_us = coalesce(m.from_us, EXCLUDED.from_us),
    received_us = EXCLUDED.received_us, reading = EXCLUDED.reading, leaf_index = EXCLUDED.leaf_index,
    tree_size = EXCLUDED.tree_size, path = EXCLUDED.path, statement = EXCLUDED.statement,
    signature = EXCLUDED.signature

-- name: ledger_renew_beats
-- Leases that say nothing new: they hold no device yet, or the reading was taken before.
INSERT INTO lease_meter AS m (tenant_id, lease_id, until_us, beat)
SELECT tenant, lease, cresset_now_us() + $3, 1 FROM unnest($1::text[], $2::text[]) AS r (tenant, lease)
ON CONFLICT (tenant_id, lease_id) DO UPDATE SET until_us = EXCLUDED.until_us, beat = m.beat + 1

-- name: ledger_renew_pins
-- The first reading of a UTC day is kept as evidence.
INSERT INTO usage_reading (tenant_id, job_id, lease_epoch, member, pin, day, seq, acquire_ns, mono_ns,
                           held_ns, busy_ns, energy_mj, received_us, node_id, boot, payload, path,
                           leaf_index, tree_size, statement, signature)
SELECT l.tenant_id, l.job_id, l.lease_epoch, l.member, 1, m.received_us / 86400000000, m.seq,
       m.acquire_ns, m.mono_ns, m.held_ns, m.busy_ns, m.energy_mj, m.received_us, l.node_id, m.boot,
       m.reading, m.path, m.leaf_index, m.tree_size, m.statement, m.signature
FROM lease l JOIN lease_meter m USING (tenant_id, lease_id)
WHERE l.lease_id = ANY ($1::text[]) ON CONFLICT DO NOTHING

-- name: ledger_renew_node
-- The first renewal of a boot makes the node ready, as does one after a silence; a cordon, a drain
-- and a quarantine stay.
UPDATE node SET seen = cresset_now_us(), statement_seq = greatest(coalesce(statement_seq, 0), $2),
       disk_free_mib = coalesce($3, disk_free_mib),
       state = CASE WHEN state IN ('joining', 'suspect', 'lost') THEN 'ready' ELSE state END,
       reason = CASE WHEN state IN ('joining', 'suspect', 'lost') THEN NULL ELSE reason END,
       lost = CASE WHEN state IN ('joining', 'suspect', 'lost') THEN NULL ELSE lost END,
       version = version + CASE WHEN state IN ('joining', 'suspect', 'lost') THEN 1 ELSE 0 END
WHERE node_id = $1 AND boot = $4

-- name: ledger_renew_devices
-- Devices that the node finds broken, or whole again.
UPDATE device d SET state = r.state
FROM unnest($2::text[], $3::text[]) AS r (device, state)
WHERE d.device_id = r.device AND d.node_id = $1 AND d.state <> r.state AND d.state <> 'gone'

-- name: ledger_quarantine
UPDATE node SET state = 'quarantined', reason = $2, version = version + 1
WHERE node_id = $1 AND state <> 'quarantined'

-- Ends of leases ---------------------------------------------------------------------------------

-- name: ledger_lease_tenant
SELECT tenant_id AS tenant, job_id AS job FROM lease WHERE lease_id = $1 AND node_id = $2

-- name: ledger_live
SELECT state, lease_epoch, stop_cause FROM job_live WHERE tenant_id = $1 AND job_id = $2
FOR UPDATE

-- name: ledger_held
SELECT l.tenant_id AS tenant, l.job_id AS job, l.lease_id AS lease, l.lease_epoch, l.member,
       l.node_id AS node, l.flavor, l.state, l.boot, l.revoke_reason, l.word, l.devices, l.slices,
       l.granted, l.ended, j.kind, j.price_id AS price, p.currency, p.rate_pico,
       m.seq, m.state AS meter_state, m.slices AS slices_read, m.acquire_ns, m.mono_ns, m.held_ns,
       m.busy_ns, m.energy_mj, m.from_us, m.received_us, m.boot AS meter_boot, m.reading, m.path,
       m.statement, m.signature, m.leaf_index, m.tree_size, i.prior_ns, i.midnight_us,
       cresset_now_us() AS now_us
FROM lease l
JOIN job j USING (tenant_id, job_id)
LEFT JOIN price p ON p.price_id = j.price_id
LEFT JOIN lease_meter m ON m.tenant_id = l.tenant_id AND m.lease_id = l.lease_id
LEFT JOIN LATERAL (
    SELECT coalesce(sum(g.billed_ns), 0)::bigint AS prior_ns, max(g.ended_us) AS midnight_us
    FROM usage_record r JOIN usage_leg g USING (tenant_id, record_id)
    WHERE r.tenant_id = l.tenant_id AND r.job_id = l.job_id AND r.lease_epoch = l.lease_epoch
      AND r.kind = 2 AND g.leg = l.member
) i ON true
WHERE l.tenant_id = $1 AND l.lease_id = $2 FOR UPDATE OF l

-- name: ledger_unsettled
-- Leases of a job that ended and have no final record, the oldest first.
SELECT l.lease_id AS lease FROM lease l
WHERE l.tenant_id = $1 AND l.job_id = $2 AND l.ended IS NOT NULL
  AND NOT EXISTS (SELECT FROM usage_record r WHERE r.tenant_id = $1 AND r.job_id = $2
                  AND r.lease_epoch = l.lease_epoch AND r.kind = 1)
ORDER BY l.lease_epoch, l.member

-- name: ledger_across_midnight
-- Leases that are held, whose last reading came on a later day than they are billed up to.
SELECT l.tenant_id AS tenant, l.lease_id AS lease
FROM lease l JOIN lease_meter m USING (tenant_id, lease_id)
WHERE l.state IN ('running', 'revoking') AND m.seq IS NOT NULL
  AND m.received_us / 86400000000
      > greatest(m.from_us / 86400000000,
                 coalesce((SELECT max(r.day) + 1 FROM usage_record r
                           WHERE r.tenant_id = l.tenant_id AND r.job_id = l.job_id
                             AND r.lease_epoch = l.lease_epoch AND r.kind = 2), 0))
LIMIT $1

-- name: ledger_completion
SELECT lease_epoch, message FROM completion WHERE tenant_id = $1 AND job_id = $2

-- name: ledger_has_final
SELECT record_id AS record FROM usage_record
WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3 AND kind = 1

-- name: ledger_complete_claim
INSERT INTO completion (tenant_id, job_id, lease_epoch, outcome, record_id, message)
VALUES ($1, $2, $3, $4::smallint, $5, $6) ON CONFLICT DO NOTHING

-- name: ledger_complete_lease
UPDATE lease SET state = CASE WHEN state = 'revoking' THEN 'revoked' ELSE 'released' END, ended = $3,
       word = $4, detail = $5, started = coalesce(started, $6)
WHERE tenant_id = $1 AND lease_id = $2 AND ended IS NULL

-- name: ledger_complete_word
-- Of a lease that had expired before its node's word came.
UPDATE lease SET word = $3, detail = $4 WHERE tenant_id = $1 AND lease_id = $2 AND ended IS NOT NULL

-- name: ledger_outputs
SELECT encode(sha256, 'hex') AS sha256, artifact_id AS artifact FROM artifact
WHERE tenant_id = $1 AND state = 'held' AND encode(sha256, 'hex') = ANY ($2::text[])

-- Records ----------------------------------------------------------------------------------------

-- name: ledger_record_before
SELECT payload_sha256 FROM usage_record WHERE tenant_id = $1 AND job_id = $2
ORDER BY leaf_id DESC LIMIT 1

-- name: ledger_record_insert
INSERT INTO usage_record (tenant_id, record_id, region, home, job_id, lease_epoch, kind, outcome,
                          program, flavor, day, device_ns, energy_mj, prev, corrects, at_us, payload,
                          payload_sha256, signature, key_id, leaf_id)
VALUES ($1, $2, $3, $4, $5, $6, $7::smallint, $8::smallint, $9::smallint, $10, $11::int, $12, $13, $14,
        $15, $16, $17, $18, $19, $20, $21)

-- name: ledger_leg_insert
INSERT INTO usage_leg (tenant_id, record_id, leg, node_id, devices, slices, granted_us, ended_us,
                       from_us, held_ns, prior_ns, billed_ns, reading_sha256)
VALUES ($1, $2, $3::smallint, $4, $5::text[], $6::int, $7, $8, $9, $10, $11, $12,
        decode(nullif($13, ''), 'hex'))

-- name: ledger_charge_insert
INSERT INTO charge (tenant_id, record_id, meter, price_id, flavor, quantity, rate_pico, amount_zepto,
                    currency, period, day, class)
VALUES ($1, $2, $3::smallint, $4, $5, $6, $7, $8::numeric, $9, $10::int, $11::int, $12::smallint)

-- name: ledger_reading_insert
INSERT INTO usage_reading (tenant_id, job_id, lease_epoch, member, pin, day, seq, acquire_ns, mono_ns,
                           held_ns, busy_ns, energy_mj, received_us, node_id, boot, payload, path,
                           leaf_index, tree_size, statement, signature)
VALUES ($1, $2, $3, $4::int, $5::smallint, $6::int, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
        $18::int, $19::int, $20, $21)
ON CONFLICT DO NOTHING

-- name: ledger_pinned
SELECT seq, held_ns, payload AS reading FROM usage_reading
WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3 AND member = $4 AND pin = 1 AND day = $5

-- name: ledger_job_sum
SELECT (SELECT r.record_id FROM usage_record r WHERE r.tenant_id = $1 AND r.job_id = $2 AND r.kind = 1
        ORDER BY r.leaf_id DESC LIMIT 1) AS record,
       (SELECT coalesce(sum(r.device_ns), 0)::bigint FROM usage_record r
        WHERE r.tenant_id = $1 AND r.job_id = $2) AS device_ns,
       (SELECT coalesce(sum(c.amount_zepto), 0)::text FROM charge c
        JOIN usage_record r USING (tenant_id, record_id)
        WHERE r.tenant_id = $1 AND r.job_id = $2) AS amount_zepto

-- name: ledger_interims_of
-- What interim records of an epoch billed, for corrections of it.
SELECT r.record_id AS record, g.prior_ns, g.billed_ns, g.from_us, g.ended_us, g.granted_us, g.held_ns
FROM usage_record r JOIN usage_leg g USING (tenant_id, record_id)
WHERE r.tenant_id = $1 AND r.job_id = $2 AND r.lease_epoch = $3 AND r.kind = 2 AND g.leg = $4
ORDER BY g.from_us

-- name: ledger_accepted_ns
-- Up to where the work of an epoch was accepted: the last checkpoint of it.
SELECT coalesce(max(held_ns), 0)::bigint AS held_ns FROM job_checkpoint
WHERE tenant_id = $1 AND job_id = $2 AND lease_epoch = $3

-- name: ledger_node_key_insert
INSERT INTO node_key (key_id, issued_us, node_id, vkey, from_us, until_us, payload, signature, leaf_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: ledger_now
SELECT cresset_now_us() AS now_us

-- The log ----------------------------------------------------------------------------------------

-- name: ledger_engine_hold
SELECT epoch FROM engine WHERE region = $1 AND epoch = $2 FOR SHARE

-- name: ledger_log_begin
-- The empty tree, where the region has none yet. $2 is SHA-256 of nothing.
INSERT INTO log_state (region, root) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- name: ledger_log_state
SELECT size, root, frontier FROM log_state WHERE region = $1

-- name: ledger_log_lock
SELECT size, root, frontier FROM log_state WHERE region = $1 FOR UPDATE

-- name: ledger_seal_waiting
SELECT leaf_id AS leaf FROM leaf_queue ORDER BY leaf_id LIMIT 1

-- name: ledger_seal_take
WITH taken AS (
    DELETE FROM leaf_queue
    WHERE leaf_id IN (SELECT leaf_id FROM leaf_queue ORDER BY leaf_id LIMIT $1) RETURNING leaf_id
)
SELECT l.leaf_id AS leaf, l.entry FROM taken JOIN audit_leaf l USING (leaf_id) ORDER BY l.leaf_id

-- name: ledger_seal_number
INSERT INTO leaf_seq (seq, leaf_id, leaf_hash)
SELECT $1 + n - 1, leaf, hash
FROM unnest($2::bigint[], $3::bytea[]) WITH ORDINALITY AS r (leaf, hash, n)

-- name: ledger_seal_totals
-- Usage is added up as its leaves are numbered: once each, by one writer.
INSERT INTO usage_total AS t (tenant_id, queue, day, flavor, meter, quantity, amount_zepto)
SELECT c.tenant_id, j.queue, c.day, c.flavor, c.meter, sum(c.quantity), sum(c.amount_zepto)
FROM usage_record r
JOIN charge c USING (tenant_id, record_id)
JOIN job j ON j.tenant_id = r.tenant_id AND j.job_id = r.job_id
WHERE r.leaf_id = ANY ($1::bigint[])
GROUP BY c.tenant_id, j.queue, c.day, c.flavor, c.meter
ON CONFLICT (tenant_id, queue, day, flavor, meter) DO UPDATE
SET quantity = t.quantity + EXCLUDED.quantity, amount_zepto = t.amount_zepto + EXCLUDED.amount_zepto

-- name: ledger_seal_state
UPDATE log_state SET size = $3, root = $4, frontier = $5, epoch = $6 WHERE region = $1 AND size = $2

-- name: ledger_checkpoint_last
SELECT size, root, frontier, note FROM checkpoint ORDER BY size DESC LIMIT 1

-- name: ledger_checkpoint_at
SELECT size, root, frontier, note FROM checkpoint WHERE size = $1

-- name: ledger_checkpoint_covering
-- The smallest that has the leaf number $1.
SELECT size, root, frontier, note FROM checkpoint WHERE size > $1 ORDER BY size LIMIT 1

-- name: ledger_checkpoint_insert
INSERT INTO checkpoint (size, root, frontier, note, signed_us)
VALUES ($1, $2, $3, $4, cresset_now_us()) ON CONFLICT DO NOTHING

-- name: ledger_publish_leaves
SELECT s.seq, s.leaf_hash, l.entry FROM leaf_seq s JOIN audit_leaf l USING (leaf_id)
WHERE s.seq >= $1 AND s.seq < $2 ORDER BY s.seq

-- name: ledger_publish_hashes
SELECT leaf_hash FROM leaf_seq WHERE seq >= $1 AND seq < $2 ORDER BY seq

-- Prices -----------------------------------------------------------------------------------------

-- name: ledger_price_insert
INSERT INTO price (price_id, region, tenant_id, flavor, meter, unit, currency, rate_pico, from_us,
                   payload, signature, leaf_id)
VALUES ($1, $2, $3, $4, $5::smallint, $6, $7, $8, $9, $10, $11, $12)

-- name: ledger_price_of
-- In force at a moment: the newest, a contract before the list. $1 region, $2 tenant, $3 flavor, $4 meter
SELECT price_id AS price, flavor, meter, unit, currency, rate_pico, from_us AS "from",
       tenant_id IS NOT NULL AS contract
FROM price
WHERE region = $1 AND (tenant_id IS NULL OR tenant_id = $2) AND flavor = $3 AND meter = $4
  AND from_us <= cresset_now_us()
ORDER BY tenant_id NULLS LAST, from_us DESC LIMIT 1

-- name: ledger_price_list
SELECT price_id AS price, flavor, meter, unit, currency, rate_pico, from_us AS "from",
       tenant_id IS NOT NULL AS contract
FROM price
WHERE region = $1 AND (tenant_id IS NULL OR tenant_id = $2) AND price_id < coalesce($3, '~')
ORDER BY price_id DESC LIMIT $4

-- name: ledger_key_is_told
SELECT leaf_id AS leaf FROM audit_leaf
WHERE tenant_id IS NULL AND kind = 'key.added' AND object = $1 LIMIT 1

-- Receipts ---------------------------------------------------------------------------------------

-- name: ledger_receipt_record
-- The record that a job's receipt is of: that of its completion, or its last final one.
SELECT r.record_id AS record, r.payload, r.signature, r.key_id, r.leaf_id AS leaf, l.salt, r.at_us
FROM usage_record r JOIN audit_leaf l USING (leaf_id)
WHERE r.tenant_id = $1 AND r.job_id = $2 AND r.kind = 1
ORDER BY r.completes IS NULL, r.leaf_id DESC LIMIT 1

-- name: ledger_receipt_evidence
SELECT u.payload, u.leaf_index, u.tree_size, u.path, u.statement, u.signature, k.vkey,
       k.payload AS key_payload, k.signature AS key_signature
FROM usage_leg g
JOIN usage_record r USING (tenant_id, record_id)
JOIN usage_reading u ON u.tenant_id = g.tenant_id AND u.job_id = r.job_id
     AND u.lease_epoch = r.lease_epoch AND u.member = g.leg AND sha256(u.payload) = g.reading_sha256
JOIN LATERAL (SELECT * FROM node_key n WHERE n.node_id = g.node_id AND n.from_us <= r.at_us
              AND (n.until_us IS NULL OR n.until_us > r.at_us)
              ORDER BY n.issued_us DESC LIMIT 1) k ON true
WHERE g.tenant_id = $1 AND g.record_id = $2 ORDER BY g.leg, u.pin

-- name: ledger_receipt_prices
SELECT p.payload, p.signature FROM charge c JOIN price p USING (price_id)
WHERE c.tenant_id = $1 AND c.record_id = $2 ORDER BY c.meter

-- Usage ------------------------------------------------------------------------------------------

-- name: ledger_records_page
SELECT r.record_id AS record, r.job_id AS job, r.kind, r.outcome, r.program, r.flavor, r.lease_epoch,
       r.device_ns, r.region, r.home, r.corrects, r.at_us AS "at",
       (SELECT coalesce(sum(c.amount_zepto), 0)::text FROM charge c
        WHERE c.tenant_id = r.tenant_id AND c.record_id = r.record_id) AS amount_zepto
FROM usage_record r
WHERE r.tenant_id = $1 AND r.record_id < coalesce($2, '~') ORDER BY r.record_id DESC LIMIT $3

-- name: ledger_record_of
SELECT r.record_id AS record, r.job_id AS job, r.kind, r.outcome, r.program, r.flavor, r.lease_epoch,
       r.device_ns, r.region, r.home, r.corrects, r.at_us AS "at", r.payload, r.payload_sha256,
       r.signature, r.leaf_id AS leaf,
       (SELECT coalesce(sum(c.amount_zepto), 0)::text FROM charge c
        WHERE c.tenant_id = r.tenant_id AND c.record_id = r.record_id) AS amount_zepto
FROM usage_record r WHERE r.tenant_id = $1 AND r.record_id = $2

-- name: ledger_usage_sums
-- $2 to $3: days, the latter not included; $4 to $6: whether by day, kind, flavor; $7: a label's name
SELECT CASE WHEN $4 THEN to_char(date '1970-01-01' + c.day, 'YYYY-MM-DD') END AS day,
       CASE WHEN $5 THEN j.kind END AS kind, CASE WHEN $6 THEN c.flavor END AS flavor,
       j.labels ->> $7 AS label, c.meter, sum(c.quantity)::bigint AS quantity,
       sum(c.amount_zepto)::text AS amount_zepto, count(*) AS record_count
FROM charge c
JOIN usage_record r USING (tenant_id, record_id)
JOIN job j ON j.tenant_id = r.tenant_id AND j.job_id = r.job_id
WHERE c.tenant_id = $1 AND c.day >= $2::int AND c.day < $3::int
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1 DESC NULLS LAST, 2, 3, 4, 5 LIMIT 500

-- Invoices ---------------------------------------------------------------------------------------

-- name: ledger_periods
SELECT c.period, c.currency, count(DISTINCT c.record_id) AS record_count
FROM charge c WHERE c.tenant_id = $1 AND c.period < coalesce($2, 999999)::int
GROUP BY c.period, c.currency ORDER BY c.period DESC LIMIT $3

-- name: ledger_lines
SELECT c.flavor, c.meter, c.price_id AS price, c.class, c.rate_pico, sum(c.quantity)::text AS quantity,
       sum(c.amount_zepto)::text AS amount_zepto, count(*) AS record_count
FROM charge c WHERE c.tenant_id = $1 AND c.period = $2::int
GROUP BY c.flavor, c.meter, c.price_id, c.class, c.rate_pico
ORDER BY c.flavor, c.meter, c.price_id, c.class LIMIT 1000

-- name: ledger_line_records
-- The digests of the records that a line sums, in the order of their ids.
SELECT r.payload_sha256 FROM charge c JOIN usage_record r USING (tenant_id, record_id)
WHERE c.tenant_id = $1 AND c.period = $2::int AND c.flavor = $3 AND c.meter = $4::smallint
  AND c.price_id = $5 AND c.class = $6::smallint
ORDER BY r.record_id COLLATE "C"

-- Audit ------------------------------------------------------------------------------------------

-- name: ledger_audit_page
SELECT l.leaf_id AS leaf, l.at_us AS "at", l.kind, l.actor, l.object, l.tenant_id AS tenant,
       s.seq AS index
FROM audit_leaf l LEFT JOIN leaf_seq s USING (leaf_id)
WHERE ($1::text IS NULL OR l.tenant_id = $1) AND l.leaf_id < coalesce($2, 9223372036854775807)
ORDER BY l.leaf_id DESC LIMIT $3

-- name: ledger_audit_leaf
SELECT l.leaf_id AS leaf, l.payload, l.salt, l.entry
FROM audit_leaf l WHERE l.leaf_id = $2 AND ($1::text IS NULL OR l.tenant_id = $1)
