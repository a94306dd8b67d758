# Lets users work on HammerDB's database until the process is ended.
source [file join [file dirname [file normalize [info script]]] connection.tcl]
diset tpcc ${of}_driver timed
diset tpcc ${of}_rampup 60
diset tpcc ${of}_duration 60
loadscript
vuset vu $env(USERS)
vuset logtotemp 0
vucreate
vurun
vwait forever
