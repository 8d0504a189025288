"""Runs a command and prints the first thing that it writes to its standard error, alone: that goes
into a pipe with room for one page, into which a second write of more than is left does not fit."""
import fcntl
import os
import subprocess
import sys

F_SETPIPE_SZ, PAGE = 1031, 4096

reader, writer = os.pipe()
fcntl.fcntl(writer, F_SETPIPE_SZ, PAGE)
with subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=writer) as process:
    os.close(writer)
    sys.stdout.buffer.write(os.read(reader, 2 * PAGE))
    os.close(reader)
    process.kill()
