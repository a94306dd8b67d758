# HammerDB's own command line and its own settings: no partitions, no pauses. Its argument is `build`, which makes the
# database with one virtual user, or `run`, which lets USERS work until the process is ended. MariaDB is reached by
# its driver for MySQL, the one that Debian has.
package require ticklecharts
set argv [list tcl auto [file join [file dirname [file normalize [info script]]] [lindex $argv 0].tcl]]
set argc 3
cd $env(HAMMERDB)
source hammerdbcli
