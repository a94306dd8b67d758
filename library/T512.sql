CREATE INDEX dbdyno_large_made ON {schema}.dbdyno_large (skey)
