-- ops_nodes: nodes and their devices, as cresset_engine.

-- name: ops_node_one
SELECT node_id AS node, name, region, state, reason, model, cpu_milli, memory_mib, disk_mib,
       disk_free_mib, engine, string_to_array(nullif(jail, ''), ',') AS jail,
       cresset_labels(labels) AS labels, build, protocol, joined, seen, version
  FROM node WHERE node_id = $1

-- name: ops_node_page
SELECT node_id AS node, name, region, state, reason, model, cpu_milli, memory_mib, disk_mib,
       disk_free_mib, engine, string_to_array(nullif(jail, ''), ',') AS jail,
       cresset_labels(labels) AS labels, build, protocol, joined, seen, version
  FROM node
 WHERE region = $1 AND state <> 'retired' AND ($2::text IS NULL OR node_id < $2)
 ORDER BY node_id DESC LIMIT $3

-- name: ops_devices_of
SELECT d.device_id AS device, d.model, d.state, d.memory_mib,
       d.lease_id AS lease, l.job_id AS job, l.tenant_id AS tenant, l.granted AS leased
  FROM device d LEFT JOIN lease l ON l.lease_id = d.lease_id
 WHERE d.node_id = ANY ($1::text[]) AND d.state <> 'gone'
 ORDER BY d.node_id, length(d.device_id), d.device_id

-- name: ops_node_turn
UPDATE node SET state = $2, reason = $3, version = version + 1
 WHERE node_id = $1 AND state = ANY ($4::text[])

-- name: ops_node_stop_leases
-- What runs on the node is asked to stop, with the grace of its job. A job whose lease is not the
-- one that runs there, or that stops already, is left alone (db.5).
WITH stopped AS (
    UPDATE job_live v
       SET state = 'stopping', stop_cause = 'drain', code = NULL, reason = NULL,
           stop_until = cresset_now_us() + j.stop_grace_s * 1000000
      FROM lease l JOIN job j ON j.tenant_id = l.tenant_id AND j.job_id = l.job_id
     WHERE l.node_id = $1 AND l.state IN ('granted', 'running')
       AND v.tenant_id = l.tenant_id AND v.job_id = l.job_id AND v.lease_epoch = l.lease_epoch
       AND v.state IN ('placing', 'running')
    RETURNING v.tenant_id, v.job_id, v.lease_epoch, v.stop_until
)
UPDATE lease l SET state = 'revoking', revoke_reason = 'drain', stop_until = s.stop_until
  FROM stopped s
 WHERE l.tenant_id = s.tenant_id AND l.job_id = s.job_id AND l.lease_epoch = s.lease_epoch
   AND l.state IN ('granted', 'running')
RETURNING l.tenant_id AS tenant, l.job_id AS job
