-- What has been applied to this database.

-- name: migrate_begun
SELECT to_regclass('public.schema_migration') IS NOT NULL AS begun

-- name: migrate_applied
SELECT number, name FROM schema_migration ORDER BY number
