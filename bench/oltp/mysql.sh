# MariaDB's part of bench/oltp.sh and bench/oltp-load.sh. MARIADB names its client.
# shellcheck shell=bash disable=SC2034,SC2154
mariadb=${MARIADB:-mariadb}
settings='innodb_buffer_pool_size=512M&innodb_log_file_size=2G'

connect() {
    url="mysql://root@localhost/dbdyno?socket=$socket"
    url_others='&others=allow'
    sysbench_options=(--db-driver=mysql --mysql-socket="$socket" --mysql-user=root --mysql-db=sbtest)
}
client() { "$mariadb" --no-defaults -BN --local-infile=1 -S "$socket" -u root "$@"; }
ask() { client -D dbdyno -e "$1"; }
ask_floor() { client -D oltp_floor; }
checkpoint() { client -e "SET GLOBAL innodb_log_checkpoint_now = ON"; }
# The format that the loader sends, and its statement.
ready_file() {
    ask "SELECT * FROM $1 WHERE $2 = $3 INTO OUTFILE '$4' CHARACTER SET binary"
    echo "LOAD DATA LOCAL INFILE '$4' INTO TABLE $1 CHARACTER SET binary;"
}
# Without the indexes that are built behind the rows.
floor_begin() {
    client -e "CREATE DATABASE oltp_floor CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    sed 's/{schema}\.//' "$library/tables.mysql.sql" | client -D oltp_floor
}
floor_end() { client -e "DROP DATABASE oltp_floor"; }
# It logs on with a password.
hammerdb_ready() {
    client -e "CREATE USER tpcc@localhost IDENTIFIED BY 'tpcc'; GRANT ALL ON *.* TO tpcc@localhost"
}
hammerdb_gone() { client -e "DROP DATABASE IF EXISTS tpcc"; }
hammerdb_ask() { client -D tpcc -e "$1"; }
sysbench_ready() { client -e "CREATE DATABASE sbtest"; }
# Its load leaves statistics behind.
sysbench_loaded() { :; }
sysbench_ask() { client -D sbtest -e "$1"; }
