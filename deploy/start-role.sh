#!/bin/sh
# Starts the app named by the first argument (standalone when there is none) in place of this shell, with the flags of
# `npm start`. Further arguments go to the app: `cli config`, `cli export`.
#
# Heap: SLUICE_HEAP_MB, or half of the memory limit of the container, or of the machine where there is none. Sandboxes
# share the limit with a runner (and standalone), so their memory comes off first, but a fourth of the limit stays. A
# process of a workflow counts as several sandboxes, but may start when one place is free. The
# other half is for buffers, young objects, code and threads. docs/reference/limits.md#heap
set -eu
app=${1:-standalone}
[ $# -eq 0 ] || shift
main=/app/dist/apps/$app/src/main.js
if [ ! -f "$main" ]; then
  echo "sluice has no app \"$app\": one of $(ls /app/dist/apps | tr '\n' ' ')" >&2
  exit 64
fi

# Prints the heap of the app that the first argument names.
heap_mb() {
  machine=4096
  while read -r name kb _; do
    [ "$name" != MemTotal: ] || machine=$((kb / 1024))
  done < /proc/meminfo
  limit=$machine
  # The files of cgroup 2 and 1. Both tell of no limit in their own way: a word, or more than the machine has.
  for file in ${MEMORY_LIMIT_FILE:-/sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes}; do
    [ -r "$file" ] || continue
    bytes=$(cat "$file")
    case $bytes in *[!0-9]* | '') continue ;; esac
    mb=$((bytes / 1048576))
    [ "$mb" -ge "$limit" ] || limit=$mb
  done
  left=$limit
  case $1 in
    runner | standalone)
      beyond=$((${SLUICE_WORKFLOW_MEMORY_MB:-1024} - ${SLUICE_MEMORY_MB:-256}))
      [ "$beyond" -ge 0 ] || beyond=0
      left=$((limit - ${SLUICE_SANDBOXES:-50} * (${SLUICE_MEMORY_MB:-256} + 60) - beyond))
      [ "$left" -ge $((limit / 4)) ] || left=$((limit / 4))
      ;;
  esac
  heap=$((left / 2))
  [ "$heap" -ge 128 ] || heap=128
  [ "$heap" -le 4096 ] || heap=4096
  echo "$heap"
}

heap_mb=${SLUICE_HEAP_MB:-$(heap_mb "$app")}
# `cli config` shows the heap of a server.
[ "$app" != cli ] || export SLUICE_HEAP_MB="${SLUICE_HEAP_MB:-$(heap_mb standalone)}"
# The shell's process becomes the app's, which deploy/health-check.mjs may have to end.
case $app in
  cli | console) ;;
  *)
    rm -f "${TMPDIR:-/tmp}/sluice.unanswered"
    echo $$ > "${TMPDIR:-/tmp}/sluice.pid"
    ;;
esac
exec node --enable-source-maps --max-semi-space-size=32 --max-old-space-size=$heap_mb "$main" "$@"
