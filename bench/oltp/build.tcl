# Makes HammerDB's database.
source [file join [file dirname [file normalize [info script]]] connection.tcl]
diset tpcc ${of}_count_ware $env(WAREHOUSES)
diset tpcc ${of}_num_vu 1
buildschema
