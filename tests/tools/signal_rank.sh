#!/usr/bin/env bash
# signal_rank.sh SIGNAL FILE mpirun...: sends the signal to one of the processes that mpirun has
# started as soon as FILE is not empty, and ends with its status.
set -m
signal=$1 file=$2
shift 2
"$@" &
while [ ! -s "$file" ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
rank=$(cut -d" " -f1 "/proc/$!/task/$!/children")
kill -"$signal" "$rank"
wait $!
