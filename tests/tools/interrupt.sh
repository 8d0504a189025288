#!/bin/sh
# interrupt.sh FILE COMMAND...: sends a command Ctrl-C's signal as soon as FILE is not empty, and
# ends with its status.
file=$1
shift
"$@" &
while [ ! -s "$file" ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
kill -INT $! 2>/dev/null
wait $!
