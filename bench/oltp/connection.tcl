# Where HammerDB finds the server.
switch $env(ENGINE) {
    postgres {
        dbset db pg
        dbset bm TPC-C
        diset connection pg_host [file dirname $env(SOCKET)]
        diset connection pg_sslmode disable
        diset tpcc pg_superuser dbdyno
        diset tpcc pg_superuserpass dbdyno
        set of pg
    }
    mysql {
        dbset db mysql
        dbset bm TPC-C
        diset connection mysql_host localhost
        diset connection mysql_socket $env(SOCKET)
        set of mysql
    }
}
diset tpcc ${of}_user tpcc
diset tpcc ${of}_pass tpcc
diset tpcc ${of}_dbase tpcc
