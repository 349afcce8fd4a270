#!/usr/bin/env bash
# Writes plan.md: what CONFIG would change on the switches. CONFIG, TOPOLOGY and TARGETS name files.
# Exits with 1 if planning fails, otherwise with 0, changes or not.
set -euo pipefail
code=0
plan=$(eeon config plan -c "$CONFIG" -t "$TOPOLOGY" -T "$TARGETS" 2>&1) || code=$?
case $code in
0) title="The fabric is as intended" ;;
2) title="What a merge changes" ;;
*) title="Planning failed" ;;
esac
{
  printf '### %s\n\n' "$title"
  sed 's/^/    /' <<<"$plan" # code in Markdown, whatever is in it
} >plan.md
[ "$code" = 0 ] || [ "$code" = 2 ]
