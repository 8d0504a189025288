#!/usr/bin/env bash
# interrupt.sh FILE COMMAND...: sends a command Ctrl-C's signal as soon as FILE is not empty, and
# ends with its status.
set -m # without job control a background command would ignore the signal
file=$1
shift
"$@" &
while [ ! -s "$file" ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
kill -INT $! 2>/dev/null
wait $!
