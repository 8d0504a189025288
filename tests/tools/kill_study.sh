#!/usr/bin/env bash
# kill_study.sh FILE COMMAND...: kills a command with SIGKILL as soon as FILE is not empty, and
# prints those of its children that live on after it, which should be none.
file=$1
shift
"$@" &
while [ ! -s "$file" ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
children=$(cat "/proc/$!/task/$!/children")
[ -n "$children" ] || echo "there were no children"
kill -KILL $!
wait $! 2>/dev/null
for _ in $(seq 100); do
  left=""
  for child in $children; do
    # A child that has ended may wait for init to notice.
    grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$child/status" && left="$left $child"
  done
  [ -z "$left" ] && break
  sleep 0.05
done
echo -n "$left"
