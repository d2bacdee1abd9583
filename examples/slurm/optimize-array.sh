#!/usr/bin/env bash
# Splits one `weir optimize` over a Slurm job array: a task per shard, then a job that merges the parts.
#
# Both at once, from a login node; prints the numbers of the two jobs:
#
#   optimize-array.sh -n SHARDS [-s OPTION]… SCENARIO FOLDER [WEIR-OPTION]…
#
# Or job by job:
#
#   sbatch --array=1-SHARDS optimize-array.sh SCENARIO FOLDER [WEIR-OPTION]…
#   sbatch --dependency=afterok:ARRAY-JOB optimize-array.sh -m FOLDER
#
#   -n SHARDS   number of shards. Within a job it is read from the array; give it where an array is not 1-SHARDS, as in
#               `sbatch --array=3,7 optimize-array.sh -n 16 …`, which does two of 16 shards again
#   -s OPTION   an option for both jobs, such as `-s --time=2:00:00`; may be repeated
#   -m          merge the parts in FOLDER into FOLDER/result.json
#   -h          print this text
#
#   SCENARIO    scenario file; must be visible to all nodes, with the files that it names
#   FOLDER      is made if need be; gets part-I.json and checkpoint-I of each shard I, log-I.txt, and result.json
#   WEIR-OPTION passed to `weir optimize`, such as --vary order --method exhaustive --set arbiter.tau=0.1
#
# Relative paths are those of the folder in which the jobs are submitted. The program is `weir` in PATH, or what the
# variable WEIR holds. Threads are the CPUs of a task: `-s --cpus-per-task=8`.
#
# A task that is requeued, cancelled or killed goes on from its checkpoint when it runs again, and a finished one ends
# at once: to go on after anything went wrong, submit the same command once more. A minute before its time limit a task
# puts itself back in the queue.

#SBATCH --job-name=weir-optimize
#SBATCH --ntasks=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@60

set -euo pipefail

weir=${WEIR:-weir}

die() {
  printf 'error: %s\n' "$1" >&2
  exit 2
}

usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}

# Submits the array, and the merge that waits for it.
submit() {
  local array merge
  command -v sbatch > /dev/null || die "there is no sbatch here: submit from a machine of the cluster"
  mkdir -p -- "$folder"
  # In the name of a log, Slurm reads `%` as the beginning of a field.
  local log=${folder//%/%%}
  array=$(sbatch --parsable --array="1-$shards" --output="$log/log-%a.txt" ${options[@]+"${options[@]}"} \
    "$0" -n "$shards" "$scenario" "$folder" "$@")
  # The number of the job, without the name of the cluster.
  array=${array%%;*}
  merge=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes \
    --output="$log/log-merge.txt" ${options[@]+"${options[@]}"} "$0" -m "$folder")
  printf 'array %s, merge %s\n' "$array" "${merge%%;*}"
}

# Searches one shard, or the rest of it.
shard() {
  local index=$SLURM_ARRAY_TASK_ID checkpoint part before
  if [[ -z $shards ]]; then
    shards=${SLURM_ARRAY_TASK_COUNT:-}
    [[ ${SLURM_ARRAY_TASK_MIN:-} == 1 && ${SLURM_ARRAY_TASK_MAX:-} == "$shards" ]] ||
      die "this array is not 1-SHARDS: give the number of all shards by -n"
  fi
  ((index >= 1 && index <= shards)) || die "there is no shard $index of $shards: use --array=1-$shards"
  mkdir -p -- "$folder"
  checkpoint=$folder/checkpoint-$index part=$folder/part-$index.json
  before=$(state "$checkpoint")
  run_weir optimize "$scenario" --shard "$index/$shards" --checkpoint "$checkpoint" --output "$part" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
  if [[ $status -ne 0 && -n $near_limit ]]; then
    [[ $(state "$checkpoint") != "$before" ]] ||
      die "shard $index saved nothing before its time limit: give more time or more shards"
    printf 'shard %s: near the time limit, put back in the queue\n' "$index"
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$index"
  fi
  [[ $status -ne 0 ]] || printf 'shard %s of %s: done\n' "$index" "$shards"
  return "$status"
}

# Tells whether a checkpoint has changed.
state() {
  if [[ -e $1 ]]; then cksum < "$1"; else printf 'none\n'; fi
}

# Runs weir so that signals reach it; leaves its exit status in `status`. A shell that waits is woken by a signal before
# its child has ended: it waits again.
run_weir() {
  local seen
  signals=0 near_limit=
  trap 'signals=$((signals + 1)); near_limit=yes; kill -TERM "$child" || true' USR1
  trap 'signals=$((signals + 1)); kill -TERM "$child" || true' TERM INT
  "$weir" "$@" &
  child=$!
  while true; do
    seen=$signals status=0
    wait "$child" || status=$?
    [[ $signals -ne $seen ]] || break
  done
}

# Joins the parts. weir refuses if one is missing, unfinished, or of another search.
merge() {
  local parts
  shopt -s nullglob
  parts=("$folder"/part-*.json)
  ((${#parts[@]} > 0)) || die "there are no parts in $folder"
  "$weir" merge --json --output "$folder/result.json" "${parts[@]}"
}

shards='' merging='' options=()
while getopts n:s:mh option; do
  case $option in
    n) shards=$OPTARG ;;
    s) options+=("$OPTARG") ;;
    m) merging=yes ;;
    h) usage && exit ;;
    *) die "see optimize-array.sh -h" ;;
  esac
done
shift $((OPTIND - 1))
[[ $shards =~ ^([1-9][0-9]{0,5})?$ ]] || die "-n $shards: give the number of shards, from 1"

if [[ -n $merging ]]; then
  (($# == 1)) || die "-m takes one folder"
  folder=$1
  merge
  exit
fi
(($# >= 2)) || die "give a scenario and a folder; see optimize-array.sh -h"
scenario=$1 folder=$2
shift 2
if [[ -n ${SLURM_ARRAY_TASK_ID:-} ]]; then
  shard "$@"
elif [[ -n $shards ]]; then
  submit "$@"
else
  die "give the number of shards by -n, or submit by sbatch --array=1-SHARDS"
fi
