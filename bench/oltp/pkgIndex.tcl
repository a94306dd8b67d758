# What HammerDB's command line asks for and Debian does not have: its charts, which nothing here draws; a command of
# its driver that only sets where notices of the server go; and the driver's other dialect, in which two lists of
# formats stand before the values of a prepared statement.
package ifneeded ticklecharts 1.0 {package provide ticklecharts 1.0}
set shim {
    proc pg_notice_handler args {}
    rename pg_exec_prepared pg_exec_prepared_plain
    proc pg_exec_prepared {connection name results formats args} {
        pg_exec_prepared_plain $connection $name {*}$args
    }
}
foreach file [glob -nocomplain /usr/lib/tcltk/*/pgtcl*/libpgtcl*.so] {
    regexp {libpgtcl([0-9.]+)\.so$} $file -> version
    package ifneeded Pgtcl $version "load $file; $shim"
}
