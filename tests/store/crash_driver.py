"""Run as a program: the real command, killed by SIGKILL from within at named places; nothing in src knows.

Every argument after the first is a JSON list [statement, occurrence, save_seconds or null, command line...]:
the process dies just before SQLite runs the statement for that time. One fork per crash, because most of the
time goes into importing torch. Prints how each child ended.
"""

import json
import os
import signal
import sqlite3
import sys

import smoothcert as sc
import smoothcert.execution.runner as runner
from smoothcert.cli.app import main


def run(statement, occurrence, save_seconds, *command):
    seen, connect = 0, sqlite3.connect

    def watch(sql):
        nonlocal seen
        seen += sql.startswith(statement)
        if seen == occurrence:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(*args, **kwargs):
        connection = connect(*args, **kwargs)
        connection.set_trace_callback(watch)
        return connection

    sqlite3.connect = watched
    if save_seconds is not None:
        runner.SAVE_SECONDS = save_seconds
    sys.argv = ["smoothcert", *command]
    main()


if __name__ == "__main__":
    sc.load_dataset("digits")  # slow to import, and no thread of its own yet
    endings = []
    for text in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            os.dup2(2, 1)  # tables go where the complaints go
            run(*json.loads(text))
            os._exit(0)
        endings.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(json.dumps(endings))
