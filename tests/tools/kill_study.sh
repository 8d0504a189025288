#!/usr/bin/env bash
# kill_study.sh FILE COMMAND...: kills a command with SIGKILL as soon as FILE is not empty and it has
# children, and prints those of its children that live on after it, which should be none.
file=$1
shift
"$@" &
# Between one run and the next there may be no child for a moment.
children=""
while kill -0 $! 2>/dev/null; do
  [ -s "$file" ] && children=$(cat "/proc/$!/task/$!/children" 2>/dev/null)
  [ -n "$children" ] && break
  sleep 0.01
done
[ -n "$children" ] || echo "it ended before it was seen with children"
kill -KILL $! 2>/dev/null
wait $! 2>/dev/null
for _ in $(seq 600); do
  left=""
  for child in $children; do
    # A child that has ended may wait for init to notice.
    grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$child/status" && left="$left $child"
  done
  [ -z "$left" ] && break
  sleep 0.05
done
echo -n "$left"
