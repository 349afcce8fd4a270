#!/usr/bin/env bash
# Applies CONFIG, TOPOLOGY and TARGETS with the options given (--waves and gates), and keeps the state folder in the
# branch eeon-state of the same repository. STATE: where that branch is checked out, outside of this work tree.
# The last commit is the revision's comment.
set -euo pipefail
umask 077 # eeon refuses state that others may read; Git keeps no modes but this one's
STATE=${STATE:-$HOME/.local/state/eeon-git/$(basename "$PWD")}
comment=$(git log -1 --format='%h %s')

if [ ! -e "$STATE/.git" ]; then
  git worktree prune
  if git fetch --quiet origin eeon-state; then
    git worktree add --quiet -B eeon-state "$STATE" FETCH_HEAD
  else
    git worktree add --quiet --detach "$STATE"
    git -C "$STATE" checkout --quiet --orphan eeon-state
    git -C "$STATE" rm -r --force --quiet .
  fi
elif git -C "$STATE" fetch --quiet origin eeon-state; then
  git -C "$STATE" merge --quiet --ff-only FETCH_HEAD # a journal of a killed apply stays: no commit has it
fi

code=0
eeon config apply --quiet -c "$CONFIG" -t "$TOPOLOGY" -T "$TARGETS" --state "$STATE" --comment "$comment" "$@" || code=$?

cd "$STATE"
git add --all -- . ':!lock' ':!controllers' # what is of this machine
if ! git diff --cached --quiet; then
  git -c user.name=eeon -c user.email=eeon@localhost commit --quiet --message "after $comment: exit code $code"
  git push --quiet origin HEAD:eeon-state
fi
exit "$code"
