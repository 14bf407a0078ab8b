-- ops: what spans tenants, as cresset_engine. Counts are of what lives, or of rows without tenants.

-- name: ops_status_row
SELECT e.region, e.epoch, CASE WHEN e.until_us > cresset_now_us() THEN e.holder END AS holder,
       e.until_us AS holder_until,
       (SELECT count(*) FROM tenant WHERE state <> 'closed') AS tenants,
       coalesce((SELECT size FROM log_state WHERE region = $1), 0) AS log_size,
       (SELECT count(*) FROM leaf_queue) AS log_waiting,
       (SELECT signed_us FROM checkpoint ORDER BY size DESC LIMIT 1) AS checkpoint,
       (SELECT count(*) FROM outbox) AS outbox, cresset_now_us() AS as_of
  FROM (SELECT $1::text AS region) r
  LEFT JOIN engine e USING (region)

-- name: ops_job_counts
SELECT count(*) FILTER (WHERE state = 'queued') AS queued,
       count(*) FILTER (WHERE state = 'placing') AS placing,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'stopping') AS stopping
  FROM job_live

-- name: ops_node_state_counts
SELECT count(*) FILTER (WHERE state = 'joining') AS joining,
       count(*) FILTER (WHERE state = 'ready') AS ready,
       count(*) FILTER (WHERE state = 'cordoned') AS cordoned,
       count(*) FILTER (WHERE state = 'draining') AS draining,
       count(*) FILTER (WHERE state = 'quarantined') AS quarantined,
       count(*) FILTER (WHERE state = 'suspect') AS suspect,
       count(*) FILTER (WHERE state = 'lost') AS lost
  FROM node WHERE region = $1

-- name: ops_device_state_counts
SELECT count(*) FILTER (WHERE d.state = 'ok' AND d.lease_id IS NULL) AS free,
       count(*) FILTER (WHERE d.lease_id IS NOT NULL) AS leased,
       count(*) FILTER (WHERE d.state IN ('suspect', 'failed') AND d.lease_id IS NULL) AS failed
  FROM device d JOIN node n USING (node_id)
 WHERE n.region = $1 AND n.state NOT IN ('lost', 'retired') AND d.state <> 'gone'

-- name: ops_scheduler_row
SELECT r.region, coalesce(e.epoch, 0) AS epoch,
       CASE WHEN e.until_us > cresset_now_us() THEN e.holder END AS holder, e.since,
       e.until_us AS until,
       (SELECT count(*) FROM job_live WHERE state = 'queued') AS queued,
       (SELECT min(j.submitted) FROM job_live l
          JOIN job j ON j.tenant_id = l.tenant_id AND j.job_id = l.job_id
         WHERE l.state = 'queued') AS oldest_queued,
       (SELECT count(*) FROM engine_batch b WHERE b.epoch = e.epoch) AS batches,
       (SELECT max(b.created) FROM engine_batch b WHERE b.epoch = e.epoch) AS last_batch,
       cresset_now_us() AS as_of
  FROM (SELECT $1::text AS region) r LEFT JOIN engine e USING (region)

-- name: ops_parks
SELECT why, jobs, since FROM park ORDER BY since LIMIT 100

-- name: ops_metering_row
SELECT (SELECT count(*) FROM lease WHERE ended IS NULL) AS leases,
       (SELECT count(*) FROM lease l JOIN lease_meter m USING (tenant_id, lease_id)
         WHERE l.state = 'running' AND m.received_us < cresset_now_us() - 30000000) AS readings_late,
       (SELECT min(m.received_us) FROM lease l JOIN lease_meter m USING (tenant_id, lease_id)
         WHERE l.state = 'running') AS oldest_reading,
       (SELECT count(*) FROM usage_record) AS records, (SELECT count(*) FROM charge) AS charges,
       (SELECT count(*) FROM usage_record r
         WHERE r.device_ns > 0 AND NOT EXISTS
               (SELECT FROM charge c WHERE c.tenant_id = r.tenant_id AND c.record_id = r.record_id))
           AS records_uncharged,
       (SELECT count(*) FROM completion c WHERE NOT EXISTS
               (SELECT FROM usage_record r
                 WHERE r.tenant_id = c.tenant_id AND r.record_id = c.record_id))
           AS completions_unrecorded,
       d.present_ns, d.billed_ns, d.idle_ns, d.maintenance_ns, d.unattributed_ns,
       d.present_ns - d.billed_ns - d.idle_ns - d.maintenance_ns - d.unattributed_ns AS difference_ns,
       cresset_now_us() AS as_of
  FROM (SELECT coalesce(sum(present_ns), 0)::bigint AS present_ns,
               coalesce(sum(billed_ns), 0)::bigint AS billed_ns,
               coalesce(sum(idle_free_ns + idle_reserved_ns + idle_waived_ns), 0)::bigint AS idle_ns,
               coalesce(sum(maintenance_ns), 0)::bigint AS maintenance_ns,
               coalesce(sum(unattributed_ns), 0)::bigint AS unattributed_ns
          FROM device_day) d

-- name: ops_flavor_rows
-- Free devices of each model, as a band: a number would tell tenants of each other.
SELECT d.model AS flavor, max(d.memory_mib) AS memory_mib, $1::text AS region,
       CASE WHEN count(*) FILTER (WHERE d.lease_id IS NULL AND n.state = 'ready') = 0 THEN 'none'
            WHEN count(*) FILTER (WHERE d.lease_id IS NULL AND n.state = 'ready') < 4 THEN 'few'
            WHEN count(*) FILTER (WHERE d.lease_id IS NULL AND n.state = 'ready') < 64 THEN 'some'
            ELSE 'many' END AS capacity
  FROM device d JOIN node n USING (node_id)
 WHERE n.region = $1 AND n.state <> 'retired' AND d.state = 'ok'
 GROUP BY d.model ORDER BY d.model
