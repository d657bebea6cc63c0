#!/bin/sh
# An array job of `kiln tune` under a real Slurm, with nodes that are all on this machine.
#
# Starts slurmctld and two slurmd (Debian's slurm-wlm) in a folder of their own, submits the sbatch
# script of docs/tuning.md as an array of TASKS (8) over LIST, kills one task with scancel while it
# tunes, requeues it, merges the rows, and compares which problems they cover with one undisturbed
# run. Prints the efficiency: the time that searches took over the time that tasks took, the killed
# one included, and over the time of both nodes. Everything ends with the script.
#
#     ./dev bench slurm [LIST]       the default is quick
#
# SECONDS_EACH (3) limits a problem's search, TRIALS (6) its trials; KEEP=1 keeps the folder.
. "$(dirname "$0")/common"
list=${1:-quick}
[ -f "$list" ] || list=tests/bench/shapes/$list.txt
[ -f "$list" ] || { echo "bench: there is no list $1" >&2; exit 2; }
for program in slurmctld slurmd sbatch scontrol; do
    command -v $program >/dev/null || { echo "bench: install slurm-wlm: there is no $program" >&2; exit 2; }
done
kiln=$PWD/build/release/kiln
list=$PWD/$list
tasks=${TASKS:-8}
box=$(mktemp -d)
export SLURM_CONF="$box/slurm.conf"
host=$(hostname -s)
user=$(id -un)
daemons=

finish() {
    for pid in $daemons; do kill "$pid" 2>/dev/null || true; done
    sleep 1
    for pid in $daemons; do kill -KILL "$pid" 2>/dev/null || true; done
    [ -n "${KEEP:-}" ] || rm -rf "$box"
}
trap finish EXIT
trap 'exit 130' INT TERM

mkdir -p "$box/state" "$box/spool" "$box/rows" "$box/log"
cat >"$SLURM_CONF" <<TEXT
ClusterName=kiln
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
SlurmctldPort=16817
SlurmctldPidFile=$box/slurmctld.pid
SlurmdPidFile=$box/slurmd.%n.pid
StateSaveLocation=$box/state
SlurmdSpoolDir=$box/spool/%n
SlurmctldLogFile=$box/log/slurmctld
SlurmdLogFile=$box/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=1,sched_interval=1
ReturnToService=2
KillWait=30
MinJobAge=3600
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=16818 CPUs=1 State=UNKNOWN
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=16819 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=one,two Default=YES MaxTime=INFINITE State=UP
TEXT
start() {
    "$@" >"$box/log/$(basename "$1").out" 2>&1 &
    daemons="$daemons $!"
}
start slurmctld -D -c
start slurmd -D -N one
start slurmd -D -N two
waits=0
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]; do
    waits=$((waits + 1))
    [ $waits -lt 60 ] || { echo "bench: the nodes did not come up" >&2; tail -5 "$box"/log/* >&2; exit 1; }
    sleep 1
done
sinfo

# What docs/tuning.md shows, but for the limits, and a device of one thread for a task.
cat >"$box/tune.sbatch" <<TEXT
#!/bin/sh
#SBATCH --array=1-$tasks
#SBATCH --ntasks=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=$box/log/task-%a
export KILN_DB=$box/rows/rows.yaml POCL_MAX_PTHREAD_COUNT=1 OMP_NUM_THREADS=1
echo "task \$SLURM_ARRAY_TASK_ID begins at \$(date +%s.%N)"
"$kiln" tune "$list" -F 1 --max-batchsize 1 --device cpu --seconds ${SECONDS_EACH:-3} --trials ${TRIALS:-6} --jobs 1 \\
    \${PARTS:+--shard \$SLURM_ARRAY_TASK_ID/\$PARTS}
status=\$?
echo "task \$SLURM_ARRAY_TASK_ID ends at \$(date +%s.%N) with \$status"
exit \$status
TEXT
began=$(date +%s)
job=$(sbatch --parsable "$box/tune.sbatch")
echo "array job $job of $tasks tasks over $(basename "$list")"

# The second task, once it has a trial in its log, is killed.
log=$box/rows/rows.shard-2-of-$tasks.trials.jsonl
until [ -s "$log" ]; do sleep 0.2; done
before=$(wc -l <"$log")
scancel "${job}_2"
until scontrol show job "${job}_2" | grep -Eq 'JobState=(CANCELLED|COMPLETED)'; do sleep 0.5; done
killed=$(date +%s.%N)
echo "task 2 was cancelled after $before trials; $(scontrol show job "${job}_2" | grep -o 'JobState=[A-Z]*')"
scontrol requeue "${job}_2"
scontrol update JobId="${job}_2" StartTime=now # not after the pause that follows a failure
while [ -n "$(squeue -h -j "$job" 2>/dev/null)" ]; do sleep 1; done
wall=$(($(date +%s) - began))

# A part that is run again by itself, with its division said, finds all done; without, it is refused.
again=$(sbatch --parsable --array=3 --export=ALL,PARTS="$tasks" --output="$box/again" "$box/tune.sbatch")
refused=$(sbatch --parsable --array=3 --output="$box/refused" "$box/tune.sbatch")
while [ -n "$(squeue -h -j "$again,$refused" 2>/dev/null)" ]; do sleep 1; done
grep -h 'tuned before\|does not tell' "$box/again" "$box/refused"
grep -h '^task .* ends' "$box"/log/task-*

"$kiln" db merge "$box"/rows/rows.shard-*.yaml -o "$box/merged.yaml" || echo "bench: the parts are not complete"
"$kiln" db lint "$box/merged.yaml" | tail -n 1
echo "undisturbed run:"
KILN_DB=$box/whole.yaml POCL_MAX_PTHREAD_COUNT=1 "$kiln" tune "$list" -F 1 --max-batchsize 1 --device cpu \
    --seconds "${SECONDS_EACH:-3}" --trials "${TRIALS:-6}" --jobs 1 | tail -n 2
keys() { sed -n 's/.*{key: "\([^"]*\)".*/\1/p' "$1" | sort -u; }
keys "$box/merged.yaml" >"$box/merged"
keys "$box/whole.yaml" >"$box/whole"
if cmp -s "$box/merged" "$box/whole"; then
    echo "coverage: equal, $(wc -l <"$box/whole") problems"
else
    echo "coverage: different (< merged, > undisturbed):"
    diff "$box/merged" "$box/whole" || true
fi
useful=$(cat "$box"/rows/*.trials.jsonl | awk '
    /"kind": "search"/ && match($0, /"seconds": [0-9.]+/) { s += substr($0, RSTART + 11, RLENGTH - 11) }
    END { print s }')
grep -h '^task ' "$box"/log/task-* | awk -v useful="$useful" -v killed="$killed" -v wall="$wall" '
    $3 == "begins" { if ($2 in from) spent += killed - from[$2]; from[$2] = $5 }
    $3 == "ends" { spent += $5 - from[$2]; delete from[$2] }
    END {
        printf "searches took %.0f s, tasks %.0f s, two nodes %d s: efficiency of the tasks %.2f, of the nodes %.2f\n",
            useful, spent, 2 * wall, useful / spent, useful / (2 * wall)
    }'
cmp -s "$box/merged" "$box/whole"
