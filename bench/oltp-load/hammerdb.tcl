# Makes HammerDB's order-entry database by its own command line and its own settings: one virtual user, no
# partitions. MariaDB is reached by its driver for MySQL, the one that Debian has.
package require ticklecharts
set argv [list tcl auto [file join [file dirname [file normalize [info script]]] build.tcl]]
set argc 3
cd $env(HAMMERDB)
source hammerdbcli
