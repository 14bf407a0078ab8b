-- Lists of artifacts by kind, newest first.
CREATE INDEX artifact_kind ON artifact (tenant_id, kind, artifact_id DESC) WHERE state <> 'deleted';
