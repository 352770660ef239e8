/* outputs.c - the tables of generated files, one line each, and the facts that each is made of. */
#include "outputs.h"

#include <stdlib.h>
#include <string.h>

/* m4 reads all that it is given: an output gets what its template looks at. */
typedef enum needs { DECLARATIONS, OPERATORS, DERIVATIVES, BOTH } needs;

typedef struct output {
    const char *template, *path; /* a path that ends in '/': a folder of pages */
    needs needs;
} output;

static const output outputs[] = {
    {"calls.c.m4", "core/calls.c",
     OPERATORS}, /* the longest first, so that no CPU waits at the end */
    {"frames.h.m4", "include/tenon/frames.h", OPERATORS},
    {"ops.h.m4", "include/tenon/ops.h", OPERATORS},
    {"pages.md.m4", "docs/ops/", BOTH},
    {"math.h.m4", "include/tenon/math.h", DECLARATIONS},
    {"ops.c.m4", "core/ops.c", DECLARATIONS},
    {"shapes.c.m4", "core/shapes.c", DECLARATIONS},
    {"rules.h.m4", "core/shape/rules.h", DECLARATIONS},
    {"pointwise.c.m4", "cpu/pointwise.c", DECLARATIONS},
    {"pointwise_loops.h.m4", "cpu/pointwise_loops.h", DECLARATIONS},
    {"structured.c.m4", "meta/structured.c", DECLARATIONS},
    {"pointwise_cuda.c.m4", "cuda/pointwise.c", DECLARATIONS},
};

/* Those that exist with derivatives only. */
static const output derivative_outputs[] = {
    {"derivatives.c.m4", "autograd/derivatives.c", DERIVATIVES},
    {"derivatives.h.m4", "autograd/derivatives.h", DERIVATIVES},
};

/* One file of loops or kernels per dtype, so that they are compiled side by side. */
typedef struct dtype_output {
    const char *template, *path_format;
    tn_dtypes dtypes;
} dtype_output;

static const dtype_output dtype_outputs[] = {
    {"loops.c.m4", "cpu/loops_%s.c", TN_DTYPES_ALL},
    {"pointwise.cu.m4", "cuda/pointwise_%s.cu",
     TN_DTYPES_ALL & ~(TN_DTYPE_BIT(TN_F16) | TN_DTYPE_BIT(TN_BF16))}, /* f32's serve these two */
};

enum {
    N_OUTPUTS = sizeof outputs / sizeof *outputs,
    N_DERIVATIVE_OUTPUTS = sizeof derivative_outputs / sizeof *derivative_outputs,
    N_DTYPE_OUTPUTS = sizeof dtype_outputs / sizeof *dtype_outputs,
};

/* ---- facts ----------------------------------------------------------------------------------- */
typedef struct facts {
    char *s;
    size_t n;
} facts;

static bool write_facts(const cg_outputs *o, needs which, tn_dtypes loops, FILE *to)
{
    bool ok = true;
    if (which != DERIVATIVES)
        ok = cg_facts_write(o->ops, o->plugin ? o->plugin : "aten", which != DECLARATIONS, loops,
                            to);
    if (which == DERIVATIVES || which == BOTH)
        ok = cg_facts_write_derivatives(o->derivatives, o->plugin ? o->plugin : "autograd", to) &&
             ok;
    return ok;
}

/* Operators' facts have the loops only of these dtypes. */
static bool make_facts(const cg_outputs *o, needs which, tn_dtypes loops, facts *out)
{
    *out = (facts){NULL, 0};
    FILE *to = open_memstream(&out->s, &out->n);
    if (!to)
        return false;
    bool ok = write_facts(o, which, loops, to);
    return fclose(to) == 0 && ok;
}

/* What the loops of one dtype are made of. */
static bool make_loops(const cg_ops *ops, tn_dtype dtype, facts *out)
{
    *out = (facts){NULL, 0};
    FILE *to = open_memstream(&out->s, &out->n);
    if (!to)
        return false;
    bool ok = cg_facts_write_loops(ops, "aten", dtype, to);
    return fclose(to) == 0 && ok;
}

static bool out_of_memory(cg_diag *d, const cg_outputs *o)
{
    cg_error(d, o->schema, (cg_pos){0, 0}, "the facts cannot be written: out of memory");
    return false;
}

/* ---- a plugin's ------------------------------------------------------------------------------ */
static bool make_plugin(cg_diag *d, cg_out *out, const cg_outputs *o)
{
    char header[512], source[512];
    facts all;
    snprintf(header, sizeof header, "%s_ops.h", o->plugin);
    snprintf(source, sizeof source, "%s_ops.c", o->plugin);
    bool ok = make_facts(o, BOTH, TN_DTYPES_ALL, &all) || out_of_memory(d, o);
    const cg_job jobs[] = {{"plugin_ops.h.m4", all.s, all.n, header},
                           {"plugin_ops.c.m4", all.s, all.n, source}};
    ok = ok && cg_emit_all(d, out, jobs, 2);
    free(all.s);
    return ok;
}

/* ---- the built-in ones ----------------------------------------------------------------------- */
typedef struct plan {
    cg_job jobs[N_OUTPUTS + N_DERIVATIVE_OUTPUTS + N_DTYPE_OUTPUTS * TN_DTYPE_COUNT];
    char paths[N_DTYPE_OUTPUTS * TN_DTYPE_COUNT][64];
    int n, n_paths;
} plan;

static void plan_outputs(plan *p, const output *rows, int n, const facts *by_needs)
{
    for (int i = 0; i < n; i++) {
        const facts *f = &by_needs[rows[i].needs];
        p->jobs[p->n++] = (cg_job){rows[i].template, f->s, f->n, rows[i].path};
    }
}

static void plan_dtype(plan *p, tn_dtype dtype, const facts *loops)
{
    for (int i = 0; i < N_DTYPE_OUTPUTS; i++) {
        if (!(dtype_outputs[i].dtypes & TN_DTYPE_BIT(dtype)))
            continue;
        char *path = p->paths[p->n_paths++];
        snprintf(path, sizeof p->paths[0], dtype_outputs[i].path_format, cg_suffix(dtype));
        p->jobs[p->n++] = (cg_job){dtype_outputs[i].template, loops->s, loops->n, path};
    }
}

static bool make_core(cg_diag *d, cg_out *out, const cg_outputs *o)
{
    plan p = {.n = 0};
    facts loops[TN_DTYPE_COUNT] = {{NULL, 0}}, by_needs[BOTH + 1] = {{NULL, 0}};
    bool ok = true;
    for (int which = DECLARATIONS; ok && which <= BOTH; which++)
        ok = make_facts(o, (needs)which, 0, &by_needs[which]);
    plan_outputs(&p, outputs, N_OUTPUTS, by_needs);
    if (o->derivatives->n || o->derivatives->n_callees)
        plan_outputs(&p, derivative_outputs, N_DERIVATIVE_OUTPUTS, by_needs);
    for (tn_dtype dtype = 0; ok && dtype < TN_DTYPE_COUNT; dtype++) {
        ok = make_loops(o->ops, dtype, &loops[dtype]);
        if (ok)
            plan_dtype(&p, dtype, &loops[dtype]);
    }
    ok = ok ? cg_emit_all(d, out, p.jobs, p.n) : out_of_memory(d, o);
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++)
        free(loops[dtype].s);
    for (int which = DECLARATIONS; which <= BOTH; which++)
        free(by_needs[which].s);
    return ok;
}

bool cg_outputs_make(cg_diag *d, cg_out *out, const cg_outputs *o)
{
    return o->plugin ? make_plugin(d, out, o) : make_core(d, out, o);
}

bool cg_outputs_dump(cg_diag *d, const cg_outputs *o, FILE *to)
{
    return write_facts(o, BOTH, TN_DTYPES_ALL, to) || out_of_memory(d, o);
}
