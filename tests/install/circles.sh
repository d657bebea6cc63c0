#!/bin/sh
# No circles: no source file calls another one, or reads its data, that by any way calls it. The
# object files say who does, so this sees what include lines do not.
set -eu
objects=${KILN_BUILD:?}/CMakeFiles
sandbox=${KILN_SANDBOX:?}
mkdir -p "$sandbox"
bad=0

circles() { # name, folders of object files...
    name=$1
    shift
    find "$@" -name '*.o' | sort >"$sandbox/objects"
    xargs nm -gA <"$sandbox/objects" |
        sed -n 's,^\([^:]*\):.* [TDRBVWC] \([a-z].*\),D \2 \1,p; s,^\([^:]*\):.* U \(.*\),U \2 \1,p' >"$sandbox/symbols"
    awk '$1 == "D" { home[$2] = $3 } $1 == "U" { want[NR] = $2; from[NR] = $3 }
         END { for (i in want) if (want[i] in home && home[want[i]] != from[i])
                   print from[i], home[want[i]] }' "$sandbox/symbols" | sort -u >"$sandbox/edges"
    [ -s "$sandbox/edges" ] || { echo "$name: no object files" >&2; bad=1; }
    if ! tsort "$sandbox/edges" >/dev/null 2>"$sandbox/loops"; then
        echo "$name: source files that need each other:" >&2
        sed "s,^tsort: ,,; s,$objects/[^/]*/,," "$sandbox/loops" >&2
        bad=1
    fi
}

circles library "$objects/kiln_objects.dir/generator" "$objects/kiln_objects.dir/runtime"
circles command "$objects/kiln.dir/driver" "$objects/kiln_driver_objects.dir/driver"
exit $bad
