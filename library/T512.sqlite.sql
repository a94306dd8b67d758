CREATE INDEX {schema}.dbdyno_large_made ON dbdyno_large (skey)
