#!/bin/sh
# Starts the app named by the first argument (standalone when there is none) in place of this shell, with the flags of
# `npm start`. Further arguments go to the app: `cli config`, `cli export`.
set -eu
app=${1:-standalone}
[ $# -eq 0 ] || shift
main=/app/dist/apps/$app/src/main.js
if [ ! -f "$main" ]; then
  echo "sluice has no app \"$app\": one of $(ls /app/dist/apps | tr '\n' ' ')" >&2
  exit 64
fi
exec node --enable-source-maps --max-semi-space-size=32 "$main" "$@"
