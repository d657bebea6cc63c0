#!/bin/sh
# `kiln db`: what it lists, what it finds wrong with files of tuning rows.
. "$(dirname "$0")/common"
shipped=$(dirname "$0")/../../tuning-db

expect 0 db --help
says '^usage: kiln db show | lint '
expect 2 db
warns '^kiln db: what to do is missing; say show or lint'
expect 2 db merge
warns '^kiln db: unknown word merge; '
expect 5 db show nowhere.yaml
warns '^kiln db: cannot read tuning rows from nowhere.yaml: No such file'

expect 0 db lint "$shipped"/*.yaml
expect 0 db show
says 'rows.yaml: not there yet; '

cat >rows.yaml <<'YAML'
schema: 1
device: "any"
rows:
- {key: "fwd-f32-n16-c192-k64-i28x28-f1x1", solver: "ConvOclDirectFwd1x1", version: 1, config: "1,64,1,1,1,1,16,2048,0", ms: 1.5, date: "2026-01-31"}
- {key: "fwd-f32-n16-c192-k64-i28x28-f1x1", solver: "naive", version: 1, config: ""}
# what follows is passed over, each for another reason
- {key: "fwd-f32-n16-c192-k64-i28x28-f1x1", solver: "nobody", version: 1, config: "1"}
- {key: "fwd-f32-n16-c192-k64-i28x28-f1x1", solver: "naive", version: 99, config: ""}
- {key: "fwd-f32-n16-c192-k64-i28x28-f1x1", solver: "ConvOclDirectFwd1x1", version: 1, config: "1,2"}
- {key: "fwd-f32-n16-c192-k64-i28x28-f1x1-s1x1", solver: "naive", version: 1, config: ""}
- {key: "\e[31m", solver: "naive", version: 1, config: ""}
- {key: "fwd-f32-n16
YAML
expect 0 db show rows.yaml
says '^rows.yaml: rows of device "any"$'
says '^ConvOclDirectFwd1x1 +1,64,1,1,1,1,16,2048,0 +1\.5 +2026-01-31 +fwd-f32-n16-c192-k64-i28x28-f1x1$'
says '^rows.yaml: 6 rows, 2 places passed over \(kiln db lint names them\)$'
lacks "$(printf '\033')"
expect 5 db lint rows.yaml
says '^rows.yaml:7: there is no solver "nobody"; '
says '^rows.yaml:8: it is of version 99 of solver naive, which is at [0-9]+$'
says '^rows.yaml:9: the config "1,2" has 2 values; '
says '^rows.yaml:10: its key is never looked up; kiln spells it fwd-f32-n16-c192-k64-i28x28-f1x1$'
says '^rows.yaml:11: '
says '^rows.yaml:12: '
says '^rows.yaml: 6 rows, 6 places passed over$'
lacks '^rows.yaml:[456]: '

export KILN_DB=off
expect 0 db show
says 'are switched off: KILN_DB=off'
