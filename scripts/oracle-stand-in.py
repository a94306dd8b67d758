#!/usr/bin/env python3
"""Serves Oracle's wire protocol from a throw-away PostgreSQL: a stand-in for Oracle in tests, and not Oracle.

    scripts/oracle-stand-in.py [--port N] [--until-eof] [--log]

Prints the URL of the server, then the connection string of the PostgreSQL that has its data, and serves until it is
interrupted, or with --until-eof until its standard input ends. The accounts are dbdyno, stranger and test0 to test99, with
second schemas of theirs, all with the password "secret". oracle-stand-in.sql has views that the server lacks.
scripts/get-oracle-stand-in.sh gets what it needs.
"""

import argparse
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

RELEASE = "3.3.0"
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
HOME = os.path.join(CACHE, "dbdyno", "oracle-stand-in", RELEASE)
# A schema is a user: tests have one each, and second schemas are users of their own.
ACCOUNTS = [
    user + second
    for user in ["DBDYNO", "STRANGER", *(f"TEST{number}" for number in range(100))]
    for second in ["", "_SECOND", "_OLTP", "_SIDE_A", "_SIDE_B"]
]
SETTINGS = """
listen_addresses = ''
max_connections = 200
shared_buffers = 64MB
max_wal_size = 4GB
fsync = off
jit = off
"""


def account():
    """The user that the server runs as: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def start_postgres(directory):
    tree, run_as = os.path.join(HOME, "postgres", "usr"), account()
    if run_as:
        # Nobody else looks into root's cache.
        os.chmod(directory, 0o755)
        shutil.copytree(tree, os.path.join(directory, "usr"), symlinks=True)
        tree = os.path.join(directory, "usr")
    programs = glob.glob(os.path.join(tree, "lib/postgresql/*/bin"))[0]
    data = os.path.join(directory, "data")
    os.mkdir(data, 0o700)
    if run_as:
        os.chown(data, run_as["user"], run_as["group"])
    made = subprocess.run(
        [programs + "/initdb", "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--no-locale", "-E", "UTF8"],
        cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **run_as,
    )
    if made.returncode:
        raise SystemExit(f"initdb failed: {made.stdout.strip()}")
    with open(os.path.join(data, "postgresql.conf"), "a", encoding="utf-8") as file:
        file.write(f"{SETTINGS}unix_socket_directories = '{data}'\n")
    log = open(os.path.join(directory, "log"), "w", encoding="utf-8")
    process = subprocess.Popen(
        [programs + "/postgres", "-D", data], cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        start_new_session=True, **run_as,
    )
    return process, f"host={data} dbname=postgres user=postgres"


def connected(conninfo, process, directory):
    import psycopg

    until = time.monotonic() + 60
    while True:
        try:
            return psycopg.connect(conninfo, autocommit=True)
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > until:
                with open(os.path.join(directory, "log"), encoding="utf-8") as file:
                    raise SystemExit(f"PostgreSQL did not start: {error} {file.read().strip()}") from None
            time.sleep(0.02)


def offer_only_the_newer_verifier():
    """Oracle's driver in Rust knows the password verifier of 12c alone, and the server offers that of 11g."""
    from seerdb.common import crypto, tns
    from seerdb.server import auth, session

    def make_challenge(password, **others):
        wanted = {"field_version": others.get("field_version"), "verifier_type": crypto.VFR_12C_SHA2}
        return auth.make_challenge(password, **wanted)

    tns.VFR_11G_SHA1 = crypto.VFR_12C_SHA2
    session.make_challenge = make_challenge


def number_conflicts():
    """The server calls a deadlock and a failed serialization invalid SQL; Oracle has numbers for them."""
    from seerdb.server.backends import postgres

    postgres._SQLSTATE_TO_ORA.update({"40P01": 60, "40001": 8177})


def serve(arguments, directory):
    import logging

    from seerdb.server import launcher, service

    logging.basicConfig(level=logging.INFO if arguments.log else logging.CRITICAL)
    process, conninfo = start_postgres(directory)
    try:
        with connected(conninfo, process, directory) as connection:
            connection.execute("CREATE EXTENSION orafce")
            with open(os.path.splitext(__file__)[0] + ".sql", encoding="utf-8") as file:
                connection.execute(file.read())
        offer_only_the_newer_verifier()
        number_conflicts()
        accounts = {"MIRROR_USERS": ",".join(f"{user}:secret" for user in ACCOUNTS)}
        launch = launcher.build(["postgres", conninfo], accounts)
        server = service.Server(port=arguments.port, backend_factory=launch.backend_factory, encryption=launch.encryption)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"oracle://dbdyno@127.0.0.1:{server.port}/ORCL", conninfo, sep="\n", flush=True)
        if arguments.until_eof:
            while sys.stdin.buffer.read(1 << 12):
                pass
        else:
            signal.pause()
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="port to listen on (a free one)")
    parser.add_argument("--until-eof", action="store_true", help="end with the standard input")
    parser.add_argument("--log", action="store_true", help="write the server's log to the standard error")
    arguments = parser.parse_args()
    python = os.path.join(HOME, "python3")
    if not os.path.exists(python):
        raise SystemExit("the stand-in for Oracle is not installed; run scripts/get-oracle-stand-in.sh")
    if os.path.realpath(sys.executable) != os.path.realpath(python):
        os.execv(os.path.realpath(python), [python, *sys.argv])
    sys.path.insert(0, os.path.join(HOME, "packages"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    directory = tempfile.mkdtemp(prefix="dbdyno-oracle-stand-in-")
    try:
        serve(arguments, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
