-- events: $1 is always the tenant, "operators" for theirs; $2 the nouns that may be seen.

-- name: events_page
SELECT event_id AS id, tenant_seq AS seq, type, timestamp, subject, body AS data
  FROM event
 WHERE tenant_id = $1 AND split_part(type, '.', 1) = ANY ($2::text[])
   AND type LIKE ANY ($3::text[])
   AND ($4::text IS NULL OR subject = $4) AND ($5::bigint IS NULL OR tenant_seq < $5)
 ORDER BY tenant_seq DESC LIMIT $6

-- name: events_ends
SELECT (SELECT tenant_seq FROM event WHERE tenant_id = $1 ORDER BY tenant_seq LIMIT 1) AS oldest,
       (SELECT tenant_seq FROM event WHERE tenant_id = $1 ORDER BY tenant_seq DESC LIMIT 1) AS newest

-- name: events_following
-- What is not wanted comes too, bare, so that a reader does not look at it twice.
SELECT e.tenant_seq AS seq, w.event_id AS id, w.type, w.timestamp, w.subject, w.body AS data
  FROM (SELECT * FROM event WHERE tenant_id = $1 AND tenant_seq > $4
         ORDER BY tenant_seq LIMIT $5) e
  LEFT JOIN event w
    ON w.region = e.region AND w.seq = e.seq AND split_part(w.type, '.', 1) = ANY ($2::text[])
   AND w.type LIKE ANY ($3::text[])
 ORDER BY e.tenant_seq

-- name: events_progressed
SELECT p.job_id AS job, p.step, p.steps, p.phase, p.at_us AS at
  FROM job_live l
  JOIN job_progress p ON p.tenant_id = l.tenant_id AND p.job_id = l.job_id
 WHERE l.tenant_id = $1 AND l.state IN ('running', 'stopping') AND p.at_us > $2
   AND (cardinality($3::text[]) = 0 OR l.job_id = ANY ($3::text[]))
 ORDER BY p.at_us LIMIT $4
