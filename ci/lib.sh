# lib.sh - what the scripts of ci/ share: where the tree is, how a preset is built, how steps are counted.
#
# Sourced, not run. Every script works from any directory and without a standard input.
set -eu -o pipefail
exec </dev/null
umask 022 # a plugin that others can write is refused
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export LC_ALL=C.UTF-8
export TENON_SHARED="${TENON_SHARED:-$root/../shared}"

say() { printf '== %s\n' "$*"; }

# Processes at a time: one a core, and 1.5 GB of memory for each.
jobs() {
    local cores memory
    cores=$(nproc)
    memory=$(awk '/^MemAvailable/ {n = int($2 / 1500000)} END {print n < 1 ? 1 : n}' /proc/meminfo)
    echo $((cores < memory ? cores : memory))
}

# build PRESET TARGET..: configures where that is needed, then builds. The last lines of a failing log are shown.
build() {
    local preset=$1 log
    shift
    mkdir -p build
    log=build/$preset.log
    say "build $preset (log: $log)"
    if [ ! -f "build/$preset/build.ninja" ] && ! cmake --preset "$preset" >"$log" 2>&1; then
        tail -n 40 "$log"
        return 1
    fi
    grep '^-- CUDA plugin' "$log" 2>/dev/null || true
    if ! cmake --build "build/$preset" -j "$(jobs)" --target "$@" >"$log" 2>&1; then
        grep -E -A12 '^FAILED|: error:|undefined reference|CMake Error' "$log" | head -n 80
        return 1
    fi
}

# step NAME COMMAND..: runs it, says how it ended and how long it took, and counts it.
passed=0
failed=0
step() {
    local name=$1 log start=$SECONDS
    shift
    mkdir -p build/steps
    log=build/steps/${name//[^a-zA-Z0-9_.-]/_}.log
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        printf 'ok      %s (%s s)\n' "$name" $((SECONDS - start))
    else
        failed=$((failed + 1))
        printf 'FAILED  %s (%s s): %.200s\n' "$name" $((SECONDS - start)) "$*"
        tail -n 60 "$log" | sed 's/^/        /'
    fi
}

# Fails when a step failed or none ran; the last line is the one that machines read.
finish() {
    printf '%s passed, %s failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
