-- ops_enroll: tokens of enrolment, as cresset_engine.

-- name: ops_enrollment_insert
INSERT INTO enrollment (credential, enrollment_id, hash, pepper, name, created_by, until_us)
VALUES ($1, $2, $3, $4, $5, $6, cresset_now_us() + $7)

-- name: ops_enrollment_one
SELECT enrollment_id AS enrollment, name, created, until_us AS until, created_by, node_id AS node,
       CASE WHEN used IS NOT NULL THEN 'used'
            WHEN until_us <= cresset_now_us() THEN 'expired' ELSE 'open' END AS state
  FROM enrollment WHERE enrollment_id = $1

-- name: ops_enrollment_page
SELECT enrollment_id AS enrollment, name, created, until_us AS until, created_by, node_id AS node,
       CASE WHEN used IS NOT NULL THEN 'used'
            WHEN until_us <= cresset_now_us() THEN 'expired' ELSE 'open' END AS state
  FROM enrollment WHERE $1::text IS NULL OR enrollment_id < $1
 ORDER BY enrollment_id DESC LIMIT $2
