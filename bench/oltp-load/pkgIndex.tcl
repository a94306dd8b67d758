# What HammerDB's command line asks for and Debian does not have: its charts, which nothing here draws, and a
# command of its driver that only sets where notices of the server go.
package ifneeded ticklecharts 1.0 {package provide ticklecharts 1.0}
foreach file [glob -nocomplain /usr/lib/tcltk/*/pgtcl*/libpgtcl*.so] {
    regexp {libpgtcl([0-9.]+)\.so$} $file -> version
    package ifneeded Pgtcl $version "load $file; proc pg_notice_handler args {}"
}
