#!/bin/sh
# Makes the model folder ../pretrained/tsmodel-1 from nothing: environment, training, cool-down, export, evaluation.
# Stopped and started again it goes on where it was. STEPS, COOLDOWN, THREADS and EVALUATION_DATA may be set outside.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tidewatch
venv=$cache/pretraining-venv
steps=${STEPS:-10000}
cooldown=${COOLDOWN:-3000}
threads=${THREADS:-2}

if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi
export TORCHINDUCTOR_CACHE_DIR="$cache/pretraining/inductor"
export PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR="$cache/pretraining/numba"
cd "$here"

"$venv/bin/python" train.py --steps "$steps" --threads "$threads"
"$venv/bin/python" train.py --cooldown "$cooldown" --threads "$threads"
"$venv/bin/python" export.py
"$venv/bin/python" evaluate.py --write --threads "$threads" ${EVALUATION_DATA:+--data "$EVALUATION_DATA"}
