# promises.awk - does a command's output hold what docs/tutorial.md promises?  awk -f promises.awk PROMISED OUTPUT
#
# Each line of PROMISED must be found in a line of OUTPUT, in the same order; other lines may stand between. "[..]" in a
# promised line stands for anything. Spaces at both ends, and how many stand between two words, do not count.
function tidy(s) {
    gsub(/[ \t]+/, " ", s)
    sub(/^ /, "", s)
    sub(/ $/, "", s)
    return s
}

# Whether the parts of `want` between "[..]" stand in `line`, one behind the other.
function holds(line, want,    parts, n, i, at) {
    n = split(want, parts, /\[\.\.\]/)
    for (i = 1; i <= n; i++) {
        at = parts[i] == "" ? 1 : index(line, parts[i])
        if (at == 0)
            return 0
        line = substr(line, at + length(parts[i]))
    }
    return 1
}

FNR == NR {
    if (tidy($0) != "")
        want[++wanted] = tidy($0)
    next
}
found < wanted && holds(tidy($0), want[found + 1]) { found++ }
END {
    if (found < wanted) {
        print "promised, and not found where it should be: " want[found + 1]
        exit 1
    }
}
