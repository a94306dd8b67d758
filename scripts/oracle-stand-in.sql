-- Views and packages of Oracle's that the stand-in lacks and dbdyno's statements name. Counters are PostgreSQL's own, so that they rise
-- with work; nothing here says anything about Oracle's.

CREATE SCHEMA dbms_stats;

CREATE FUNCTION dbms_stats.gather_table_stats(ownname text, tabname text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ANALYZE %I.%I', lower(ownname), lower(tabname));
END $$;

CREATE VIEW oracle."v$sysstat" AS
SELECT 'redo size' AS name, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::numeric AS value
UNION ALL SELECT 'session logical reads', sum(hits + reads) FROM pg_stat_io
UNION ALL SELECT 'physical reads', sum(reads) FROM pg_stat_io
UNION ALL SELECT 'physical read total IO requests', sum(reads) FROM pg_stat_io
UNION ALL SELECT 'physical read total bytes', sum(read_bytes) FROM pg_stat_io
UNION ALL SELECT 'physical write total IO requests', sum(writes) FROM pg_stat_io
UNION ALL SELECT 'physical write total bytes', sum(write_bytes) FROM pg_stat_io
UNION ALL SELECT 'redo writes', wal_records FROM pg_stat_wal
UNION ALL SELECT 'DBWR checkpoint buffers written', buffers_written FROM pg_stat_checkpointer
UNION ALL SELECT 'user commits', sum(xact_commit) FROM pg_stat_database;

-- As recorded from documents of Oracle's: event, class, waits and microseconds of foregrounds.
CREATE VIEW oracle."v$system_event" (event, wait_class, total_waits_fg, time_waited_micro_fg) AS
VALUES ('log file sync', 'Commit', 1200::numeric, 960000::numeric),
    ('db file sequential read', 'User I/O', 88000, 41000000),
    ('SQL*Net message to client', 'Network', 91000, 90000),
    ('SQL*Net message from client', 'Idle', 91000, 9999000000),
    ('enq: TX - row lock contention', 'Application', 3, 60000),
    ('buffer busy waits', 'Concurrency', 40, 1000);

CREATE VIEW oracle."v$resource_limit" (resource_name, current_utilization, limit_value) AS
SELECT 'processes', count(*)::numeric, '       200' FROM pg_stat_activity
UNION ALL SELECT 'sessions', count(*)::numeric, ' UNLIMITED' FROM pg_stat_activity;

CREATE VIEW oracle."v$instance" (instance_name, startup_time) AS
SELECT 'ORCL', pg_postmaster_start_time()::timestamp(0);

-- The server's own view, which comes after those of this schema, has no waits. What it is made of is there when the first session has logged in, so that it is named at the
-- time of a query. PostgreSQL's wait for a lock is shown as Oracle's.
CREATE FUNCTION oracle.dbdyno_sessions()
RETURNS TABLE (sid int, "serial#" int, username text, status text, type text, program text, state text, wait_class text, event text)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE
        'SELECT a.pid, sys.ora_serial(a.pid)::int, s.username::text, CASE WHEN a.state = ''active'' THEN ''ACTIVE'' ELSE ''INACTIVE'' END,
             ''USER'', s.program::text,
             CASE WHEN a.state <> ''active'' OR a.wait_event_type = ''Lock'' THEN ''WAITING'' ELSE ''WAITED KNOWN TIME'' END,
             CASE WHEN a.state <> ''active'' THEN ''Idle'' WHEN a.wait_event_type = ''Lock'' THEN ''Application'' ELSE ''Other'' END,
             CASE WHEN a.state <> ''active'' THEN ''SQL*Net message from client''
                 WHEN a.wait_event_type = ''Lock'' THEN ''enq: TX - row lock contention'' ELSE a.wait_event END
         FROM pg_stat_activity a JOIN sys.ora_sessions s ON s.pid = a.pid
         UNION ALL SELECT pid, 1, NULL, ''ACTIVE'', ''BACKGROUND'', ''oracle@stand-in (LGWR)'', ''WAITING'', ''System I/O'', ''log file parallel write''
         FROM pg_stat_activity WHERE backend_type = ''walwriter''';
END $$;
CREATE VIEW public."v$session" AS SELECT * FROM oracle.dbdyno_sessions();

-- Parameters as recorded from a document of Oracle's.
CREATE VIEW public."v$parameter" (name, value, isdefault) AS
VALUES ('parallel_max_servers', '40', 'TRUE'), ('processes', '200', 'FALSE'), ('open_cursors', '300', 'TRUE'),
    ('db_block_size', '8192', 'TRUE'), ('filesystemio_options', 'none', 'TRUE'), ('disk_asynch_io', 'TRUE', 'TRUE'),
    ('lock_sga', 'FALSE', 'TRUE'), ('use_large_pages', 'TRUE', 'TRUE'), ('sga_target', '4294967296', 'FALSE');

-- A call that rolls back: what a procedure did before an exception is undone by PostgreSQL itself.
CREATE SCHEMA dbms_transaction;
CREATE PROCEDURE dbms_transaction.rollback() LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;
