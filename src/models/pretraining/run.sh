#!/bin/sh
# Makes the model folders of ../pretrained: environment, training, cool-down, export, evaluation; on a CPU or a GPU. A
# stopped run resumes. Environment: MODEL (default: all), STEPS, COOLDOWN, THREADS, EVALUATION_DATA.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tidewatch
venv=$cache/pretraining-venv
threads=${THREADS:-2}

if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi
export TORCHINDUCTOR_CACHE_DIR="$cache/pretraining/inductor"
export PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR="$cache/pretraining/numba"
cd "$here"

python="$venv/bin/python"
# The first model has the initial weights of the others.
for model in ${MODEL:-tsmodel-1 tsmodel-1-long-horizon tsmodel-2.1}; do
  folder=../pretrained/$model
  "$python" train.py --model "$model" ${STEPS:+--steps "$STEPS"} --threads "$threads"
  "$python" train.py --model "$model" --cooldown ${COOLDOWN:-} --threads "$threads"
  "$python" export.py --model "$model"
  far=
  if [ "$model" = tsmodel-1-long-horizon ]; then far=--far; fi
  "$python" evaluate.py --model "$folder" --write $far --threads "$threads" \
    ${EVALUATION_DATA:+--data "$EVALUATION_DATA"}
  if [ "$model" = tsmodel-1 ]; then
    "$python" distil.py --threads "$threads"
    "$python" export.py --detection
    "$python" evaluate.py --detection --write --threads "$threads" ${EVALUATION_DATA:+--data "$EVALUATION_DATA"}
  fi
  if [ "$model" = tsmodel-2.1 ]; then
    "$python" evaluate_groups.py --model "$folder" --write --threads "$threads" \
      ${EVALUATION_DATA:+--data "$EVALUATION_DATA"}
  fi
done
