# includes.awk - which folder may include which. Run on every source; prints each include that points the wrong way.
#
# Core: base < schema < tensor < iter, shape < dispatch < autograd < plugin. Public headers include only each other; plugins
# include only public headers and their own; nothing includes a plugin.
BEGIN {
    rank["base"] = 1
    rank["schema"] = 2
    rank["tensor"] = 3
    rank["iter"] = 4
    rank["shape"] = 4
    rank["dispatch"] = 5
    rank["autograd"] = 6
    rank["plugin"] = 7
}

function complain(why) {
    printf "%s:%d: includes %s; %s\n", FILENAME, FNR, name, why
    bad = 1
}

# "core/dispatch/call.c" -> "dispatch"; a name without a folder is one of the file's own.
function core_folder(path,    part) {
    split(path, part, "/")
    return part[2]
}

/^[ \t]*#[ \t]*include[ \t]+["<]/ {
    quoted = $0 ~ /include[ \t]+"/
    name = $0
    sub(/^[^"<]*["<]/, "", name)
    sub(/[">].*$/, "", name)
    public = name ~ /^tenon\//
    system_header = !quoted && !public

    if (name ~ /^plugins\//)
        complain("nothing includes a plugin")
    if (FILENAME ~ /^include\/tenon\// && !public && !system_header)
        complain("a public header includes only public and standard headers")
    if (FILENAME ~ /^(plugins|extensions)\// && name ~ /^(core|codegen|tools|tests)\//)
        complain("a plugin includes only <tenon/...> and its own files")
    if (FILENAME ~ /^core\//) {
        if (name ~ /^(codegen|tools|tests)\//)
            complain("the core includes nothing that stands above it")
        if (name ~ /^core\//) {
            from = core_folder(FILENAME)
            to = core_folder(name)
            if (!(to in rank))
                complain("ci/includes.awk does not know this folder")
            else if (rank[to] > rank[from] || (rank[to] == rank[from] && to != from && from != "shape"))
                complain("core goes base < schema < tensor < iter, shape < dispatch < autograd < plugin")
        }
    }
    if (FILENAME ~ /^codegen\// && name ~ /^(core|tools|tests)\// && name !~ /^core\/schema\//)
        complain("the generator uses core/schema alone")
    if (FILENAME ~ /^tools\// && name ~ /^core\// && name !~ /^core\/(schema|plugin)\//)
        complain("the command uses the public calls, core/schema, and the reading of plugin files")
}

END { exit bad }
