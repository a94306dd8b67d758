# shellcheck shell=bash disable=SC2154,SC2034,SC2015 # variables of the other files; what fails ends the check
# Part A: an analyst with tables of all kinds, and columns in memory. Sourced by trials.sh.

# lift STATUS LEVEL ARGUMENT…: lifts what is at $url.
lift() {
    local expected=$1 level=$2
    shift 2
    ends "$expected" data load columnar --target "$url" --levels "$level" --format json "$@"
}

readonly LEVELS="none query-low query-high capacity-low capacity-high"

A1() {
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE docs AS SELECT i, repeat(md5(i::text), 200) AS t FROM generate_series(1, 4000) i;
        CREATE TABLE large AS SELECT i, (SELECT string_agg(md5((i * 100000 + k)::text), '') FROM generate_series(1, 31250) k) AS t
            FROM generate_series(1, 6) i"
    lift 0 none --tables docs
    holds 'd["valid"]' 'd["memory_bytes"] >= 4000 * 6400' 'd["memory_doubt"] is None' 'd["compress_factor"] < 2'
    lift 0 query-high
    # Digits of a hash become half as long at best.
    holds 'd["valid"]' 'table("large")["memory_bytes"] >= 6 * 450000' 'table("large")["compress_factor"] < 4' \
        'sum(t["memory_bytes"] for t in d["tables"]) == d["memory_bytes"]' 'd["memory_bytes_process"] >= d["memory_bytes"] / 2'
}
check A1 "the memory of long texts is counted, by table and in all"

A1_size() {
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE docs AS SELECT i, repeat(md5(i::text), 200) AS t FROM generate_series(1, 10000) i"
    ends 0 data estimate --target "$url" --levels none --format json
    local low high
    low=$(value 'd["levels"][0]["memory_bytes"]["low"]')
    high=$(value 'd["levels"][0]["memory_bytes"]["high"]')
    lift 0 none
    holds "$low <= d['memory_bytes'] <= $high"
}
check A1_size "what is predicted of long texts is what they take"

A2() {
    sqlite sparse.db "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, w TEXT);
        INSERT INTO t $(numbers 260000) SELECT n + (n >= 130000) * 1000000000000, n % 1000, 'word ' || n % 77 FROM r"
    url=sqlite:$here/sparse.db
    local level low high
    for level in query-low capacity-low; do
        ends 0 data estimate --target "$url" --levels "$level" --format json
        holds 'sum(p["rows"] for p in d["tables"][0]["sample"]["pieces"]) > 100000'
        low=$(value 'd["levels"][0]["memory_bytes"]["low"]')
        high=$(value 'd["levels"][0]["memory_bytes"]["high"]')
        lift 0 "$level"
        holds "$low <= d['memory_bytes'] <= $high"
    done
}
check A2 "row ids with gaps are sampled by rows, and their size is predicted"

A3() {
    sqlite tiny.db "CREATE TABLE k3 (k INTEGER, x REAL); INSERT INTO k3 VALUES (1, 0.1), (2, 0.2), (3, 0.3);
        CREATE TABLE k17 (k INTEGER, t TEXT); INSERT INTO k17 $(numbers 17) SELECT n * n * n, hex(randomblob(9)) FROM r"
    url=sqlite:$here/tiny.db
    local level
    for level in $LEVELS; do
        lift 0 "$level"
        holds 'd["valid"]' 'all(t["valid"] for t in d["tables"])'
    done
}
check A3 "a table too small to pack is no failed level"

A3_study() {
    url=sqlite:$here/olap.db
    ends 0 data load olap --target "$url" --scale 0.01
    sqlite olap.db "UPDATE region SET r_comment = 'another comment'"
    measures 0 run columnar --target "$url" --scale 0.01 --levels query-low,query-high --queries 1,6 --clients 1 --memory 300MB --yes
    exports
    holds 'len(points("LIFT-REGION")) == 2' 'all(p["valid"] for p in points("LIFT-REGION") + points("LIFT-ALL"))'
}
check A3_study "the study lifts region, whatever stands in it"

A4() {
    duckdb "$here/v.db" "CREATE TABLE t AS SELECT i FROM range(5000) r(i); CREATE VIEW v AS SELECT i FROM t WHERE i < 10"
    url=duckdb:$here/v.db
    lift 0 query-high
    holds 'd["valid"]' 'rows() == {"t": 5000}' 'd["left_out"][0]["name"].endswith("v")' '"view" in d["left_out"][0]["why"]'
    lift 0 query-high --tables v
    holds 'rows() == {"v": 10}'
    ends 0 data estimate --target "$url" --levels query-high --format json
}
check A4 "a view of DuckDB is left out by name, or read as a whole"

A5() {
    sqlite names.db "CREATE TABLE \"a.b\" (\"x.y\" INTEGER, \"q\"\"t\" TEXT); INSERT INTO \"a.b\" VALUES (1, 2);
        CREATE TABLE \"it's\" (\"select\" INTEGER, \"a b\" TEXT); INSERT INTO \"it's\" VALUES (1, 2)"
    url=sqlite:$here/names.db
    local level
    for level in $LEVELS; do
        lift 0 "$level"
        holds 'd["valid"]' "sorted(t['table'] for t in d['tables']) == ['a.b', \"it's\"]"
    done
    lift 0 none --tables a.b
    ends 0 data estimate --target "$url" --format json
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE \"Foo\" (a integer, \"A\" integer); CREATE TABLE foo (a integer);
        INSERT INTO \"Foo\" VALUES (1, 2), (3, 4); INSERT INTO foo VALUES (5)"
    lift 0 query-high
    holds 'rows() == {"Foo": 2, "foo": 1}'
    ends 0 data estimate --target "$url" --format json
}
check A5 "any name that a source allows is lifted and sized"

A5_mariadb() {
    use_mariadb
    my_database
    my "USE $database; CREATE TABLE MiXed (a INT); CREATE TABLE mixed (a INT); INSERT INTO MiXed VALUES (1), (2); INSERT INTO mixed VALUES (3)"
    lift 0 query-high
    holds 'rows() == {"MiXed": 2, "mixed": 1}'
    ends 0 data estimate --target "$url" --format json
}
check A5_mariadb "names that differ in their case alone are two tables"

A6() {
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE parent (id integer, t text); CREATE TABLE child (more integer) INHERITS (parent);
        INSERT INTO parent SELECT i, 'p' || i FROM generate_series(1, 3000) i;
        INSERT INTO child SELECT i, 'c' || i, i FROM generate_series(1, 1000) i;
        CREATE TABLE parted (id integer) PARTITION BY RANGE (id); CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
        INSERT INTO parted SELECT generate_series(0, 99)"
    lift 0 query-high
    holds 'rows() == {"parent": 3000, "child": 1000, "parted": 100}' 'd["rows"] == 4100'
}
check A6 "rows of heirs and partitions count once"

A7() {
    duckdb "$here/sorted.db" "CREATE TABLE t AS SELECT i AS id, TIMESTAMP '2024-01-01' + to_seconds(i) AS ts, 'batch ' || (i // 1000) AS t FROM range(300000) r(i)"
    url=duckdb:$here/sorted.db
    lift 0 capacity-low
    local truth seed
    truth=$(value 'd["memory_bytes"]')
    for seed in 1 2 3 4 5; do
        ends 0 data estimate --target "$url" --levels capacity-low --seed "$seed" --size 2% --format json
        holds "d['levels'][0]['memory_bytes']['low'] <= $truth <= d['levels'][0]['memory_bytes']['high']"
    done
}
check A7 "intervals of sorted values hold the truth (fifty shapes: columnar-size-coverage.sh)"

A8() {
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE dates (d date); INSERT INTO dates VALUES ('0044-03-15 BC'), ('0044-03-16 BC'), ('infinity'), ('2024-02-29')"
    local level
    for level in $LEVELS; do
        lift 0 "$level"
        holds 'd["valid"]'
    done
}
check A8 "days before Christ are compared as values"

A9() {
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE t AS SELECT 1 AS a; CREATE VIEW vw AS SELECT 1 AS a; CREATE EXTENSION IF NOT EXISTS postgres_fdw;
        CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw; CREATE FOREIGN TABLE there (a integer) SERVER far" ||
        pg "$database" "CREATE TABLE t AS SELECT 1 AS a; CREATE VIEW vw AS SELECT 1 AS a"
    local foreign
    foreign=$(pg "$database" "SELECT count(*) FROM pg_foreign_table")
    lift 0 none
    holds 'rows() == {"t": 1}' 'any(o["name"].endswith("vw") and "view" in o["why"] for o in d["left_out"])' \
        "any(o['name'].endswith('there') for o in d['left_out']) == bool($foreign)"
    ends 0 data load columnar --target "$url" --levels none
    says "vw"
}
check A9 "views and foreign tables that are left out are told"

A9_mariadb() {
    use_mariadb
    my_database
    my "USE $database; CREATE TABLE versioned (a INT) WITH SYSTEM VERSIONING; INSERT INTO versioned VALUES (5); UPDATE versioned SET a = 6;
        CREATE VIEW vw AS SELECT a FROM versioned"
    lift 0 none
    holds 'rows() == {"versioned": 1}' 'd["left_out"][0]["name"].endswith("vw")'
}
check A9_mariadb "a table with a history is lifted as it is now"

A10() {
    use_mariadb
    my_database
    my "USE $database; CREATE TABLE stale (id INT PRIMARY KEY, t VARCHAR(40)) STATS_AUTO_RECALC=0;
        INSERT INTO stale SELECT seq, concat('some words ', seq) FROM seq_1_to_30000"
    lift 0 query-high
    holds 'table("stale")["disk_bytes"] is None' 'table("stale")["compress_factor"] is None' 'd["compress_factor"] is None' \
        '"ANALYZE TABLE" in str(table("stale")["notes"])'
    my "ANALYZE TABLE $database.stale" >/dev/null
    lift 0 query-high
    holds 'table("stale")["disk_bytes"] > 500000'
}
check A10 "a size on disk of stale statistics is not told"

A11() {
    sqlite tiny.db "CREATE TABLE a (k INTEGER); INSERT INTO a VALUES (1); CREATE TABLE b (k INTEGER); INSERT INTO b VALUES (2)"
    url=sqlite:$here/tiny.db
    lift 0 query-high
    holds 'all(t["compress_factor"] is None for t in d["tables"])' 'd["compress_factor"] is None'
    ends 0 data load columnar --target "$url" --levels query-high
    says_not 16384
}
check A11 "where tables have no factor, all have none"

A12() {
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE SCHEMA one; CREATE SCHEMA two; CREATE TABLE one.t AS SELECT 1 AS a; CREATE TABLE two.t AS SELECT 2 AS a UNION SELECT 3"
    lift 0 query-high
    holds 'sorted((t["table"], t["rows"]) for t in d["tables"]) == [("one.t", 1), ("two.t", 2)]'
    lift 0 query-high --tables -two.t
    holds '[t["table"] for t in d["tables"]] == ["one.t"]'
}
check A12 "the same name in two schemas is two tables, and tables can be left out"

A13() {
    ends 0 data load olap --target "sqlite:$here/small.db" --scale 0.01
    ends 0 data load olap --target "duckdb:$here/large.db" --scale 0.02
    measures 0 run olap --target "sqlite:$here/small.db" --target "duckdb:$here/large.db" --queries 6,14 --yes
    exports
    holds '"not comparable" in of_all("notes")' '"0.02" in of_all("notes")'
}
check A13 "databases of two scales side by side are called not comparable"

A14() {
    ends 0 data load olap --target "sqlite:$here/olap.db" --scale 0.01
    measures 0 run olap --target "sqlite:$here/olap.db" --queries 6,14 --name one --yes
    measures 0 run olap --target "sqlite:$here/olap.db" --queries 6,14 --name two --yes
    ends 0 compare one two --format json
    holds 'any(m["primary"] and m["metric"].endswith("OLAP-POWER.scaled_queries_per_h") for m in d["metrics"])' \
        'all(m["values_a"][0] > 0 and m["values_b"][0] > 0 for m in d["metrics"] if m["primary"])'
}
check A14 "two analytical runs are compared by queries an hour"

A15() {
    measures 0 run columnar --demo --scale 0.01 --levels capacity-low --queries 6 --clients 1 --memory 300MB --yes
    says "on disk" "memory" "factor"
    ends 0 report last --format md
    says "on disk [MB]" "in memory [MB]" "factor"
}
check A15 "sizes and factors stand on the terminal and in Markdown"

A16() {
    sqlite t.db "CREATE TABLE t (a INTEGER)"
    ends 2 data load columnar --target "sqlite:$here/t.db" --levels none --memory 30MB
    says "64" "MB"
    says_not memory_limit_mb
    sqlite t.db "INSERT INTO t $(numbers 1000000) SELECT n * 1000003 % 99991 FROM r; CREATE TABLE u (t TEXT);
        INSERT INTO u SELECT hex(randomblob(3000)) FROM t LIMIT 15000"
    ends 2 data load columnar --target "sqlite:$here/t.db" --levels none --memory 64MB
    says "--memory"
    says_not memory_limit_mb
}
check A16 "too little memory is refused, and the flag is named"

A17() {
    sqlite odd.db "CREATE TABLE fine (a INTEGER); INSERT INTO fine VALUES (1);
        CREATE TABLE mixed (a INTEGER, b REAL); INSERT INTO mixed VALUES (1, 1.5), ('n/a', 2.5);
        CREATE TABLE untyped (a, b INTEGER, c); INSERT INTO untyped VALUES (1, 2, 'x'), ('y', 3, NULL)"
    url=sqlite:$here/odd.db
    ends 2 data load columnar --target "$url" --levels query-high
    says untyped.a '"n/a"' "column a" "--tables -untyped:a,-mixed:a, --unfit skip"
    lift 0 query-high --unfit skip
    holds 'rows() == {"fine": 1, "untyped": 2}' 'sorted(o["name"] for o in d["left_out"]) == ["mixed", "untyped.a"]'
    lift 0 query-high --unfit text
    holds 'rows() == {"fine": 1, "mixed": 2, "untyped": 2}'
}
check A17 "what no level can hold is listed at once, skipped or kept as text"

A17_servers() {
    use_mariadb
    my_database
    my "USE $database; CREATE TABLE zero (d DATE); SET sql_mode = ''; INSERT INTO zero VALUES ('2020-01-01'), ('0000-00-00'); CREATE TABLE fine (a INT)"
    lift 0 none --unfit skip
    holds '[t["table"].split(".")[-1] for t in d["tables"]] == ["fine"]' 'd["left_out"][0]["name"].endswith("zero")'
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE nans (n numeric(38,10)); INSERT INTO nans VALUES (1.5), ('NaN'); CREATE TABLE fine (a integer)"
    lift 0 none --unfit skip
    holds 'list(rows()) == ["fine"]' '"numeric(38,10)" in str(d["left_out"])'
}
check A17_servers "NaN and a day zero cost their table alone"

A18_columns() {
    use_postgres 15 18
    pg_database
    pg "$database" "DO \$\$ BEGIN EXECUTE 'CREATE TABLE wide AS SELECT ' || (SELECT string_agg(n || ' AS c' || n, ', ') FROM generate_series(1, 1000) n); END \$\$"
    lift 0 capacity-low
    holds 'd["valid"]' 'sum(len(c) for c in table("wide")["codecs"].values()) == 1000'
}
check A18_columns "a table of a thousand columns is lifted"

A18_utf8() {
    sqlite broken.db "CREATE TABLE broken (t TEXT); INSERT INTO broken VALUES (CAST(x'ff41' AS TEXT)); CREATE TABLE fine (a INTEGER)"
    url=sqlite:$here/broken.db
    ends 2 data load columnar --target "$url" --levels none
    says "not UTF-8" "broken" "column t"
    lift 0 none --unfit skip
    holds 'list(rows()) == ["fine"]'
}
check A18_utf8 "text that is not UTF-8 is told with its table and column"

A18_mariadb() {
    use_mariadb
    my_database
    my "USE $database; CREATE TABLE kinds (s SET('a', 'b'), e ENUM('x', 'y'), u UUID, i INET6); INSERT INTO kinds VALUES ('a,b', 'y', uuid(), '::1')"
    lift 0 none
    holds 'sum(n.endswith("kept as text") for n in table("kinds")["notes"]) == 4'
}
check A18_mariadb "what is kept as text is told"

A18_rights() {
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE staff (salary integer, id integer); INSERT INTO staff VALUES (1, 2); CREATE TABLE hidden (id integer);
        INSERT INTO hidden VALUES (1), (2); ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN;
        GRANT SELECT (id) ON staff TO reader; GRANT SELECT ON hidden TO reader"
    url=$(pg_url reader)
    lift 0 none
    holds 'rows() == {"hidden": 0, "staff": 1}' '[o["name"] for o in d["left_out"]] == ["public.staff.salary"]' \
        '"row security" in str(table("hidden")["notes"])' 'table("hidden")["disk_bytes"] is None'
}
check A18_rights "columns that may not be read and rows that are hidden are told"

A18_refreshed() {
    url=sqlite:$here/olap.db
    ends 0 data load olap --target "$url" --scale 0.01
    begins run olap --target "$url" --queries 6,1 --set refresh=true --set iterations=50 --name killed --yes
    until_true 60 grep -q "RF1" spawned.log
    end_process "$spawned" KILL
    ends 2 run olap --target "$url" --queries 6 --name after --yes
    says "refresh was interrupted" "data load olap TARGET --scale 0.01"
    exports after
    holds 'not d["points"]'
    ends 0 data load olap --target "$url" --scale 0.01
    measures 0 run olap --target "$url" --queries 6 --yes
}
check A18_refreshed "a half-refreshed database is not measured, and can be mended"

A18_scale() {
    ends 2 data load olap --target "sqlite:$here/o.db" --scale 0.015
    says "same supplier twice" "0.02"
    ends 0 data load olap --target "sqlite:$here/o.db" --scale 0.02
    says "by 1 session;"
}
check A18_scale "scales are taken and refused as documented"

A_words() {
    sqlite odd.db "CREATE TABLE e (a, b INTEGER); INSERT INTO e VALUES (1, 2), ('x', 3)"
    url=sqlite:$here/odd.db
    ends 2 data load columnar --target "$url" --levels none
    says "e.a (a column without a type may contain values of any type)"
    D data load columnar --target "$url" --levels none --tables vw
    says 'no table "vw"'
    says_not "did you mean"
    ends 0 data load columnar --target "$url" --levels none --unfit skip
    says "1 table of SQLite" "1 stream;"
    sqlite sparse.db "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER); INSERT INTO t $(numbers 260000) SELECT n * n * 3, n FROM r"
    ends 0 data estimate --target "sqlite:$here/sparse.db" --levels none
    says "% of the rows, by their row numbers"
}
check A_words "sentences are whole, hints are near, and one is one"
