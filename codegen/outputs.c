/* outputs.c - the tables of generated files, one line each, and the facts that each is made of. */
#include "outputs.h"

#include <stdlib.h>
#include <string.h>

typedef struct output {
    const char *template, *path; /* a path that ends in '/': a folder of pages */
    unsigned facts;              /* that its template looks at: CG_FACTS_ */
} output;

static const output outputs[] = {
    /* the longest first, so that no CPU waits at the end */
    {"pages.md.m4", "docs/ops/", CG_FACTS_ALL & ~(CG_FACTS_CALLS | CG_FACTS_CODE)},
    {"calls.c.m4", "core/calls.c", CG_FACTS_FORMS},
    {"ops.h.m4", "include/tenon/ops.h", CG_FACTS_FORMS},
    {"frames.h.m4", "include/tenon/frames.h", CG_FACTS_FORMS},
    {"math.h.m4", "include/tenon/math.h", 0},
    {"ops.c.m4", "core/ops.c", CG_FACTS_DECLS},
    {"shapes.c.m4", "core/shapes.c", CG_FACTS_SHAPES},
    {"rules.h.m4", "core/shape/rules.h", CG_FACTS_SHAPES},
    {"pointwise.c.m4", "cpu/pointwise.c", CG_FACTS_POINTWISE},
    {"pointwise_loops.h.m4", "cpu/pointwise_loops.h", CG_FACTS_POINTWISE},
    {"vector_math.h.m4", "cpu/vector_math.h", 0},
    {"vector_math.c.m4", "cpu/vector_math.c", 0},
    {"structured.c.m4", "meta/structured.c", CG_FACTS_DECLS},
    {"pointwise_cuda.c.m4", "cuda/pointwise.c", CG_FACTS_POINTWISE},
};

/* Those that exist with derivatives only. */
static const output derivative_outputs[] = {
    {"derivatives.c.m4", "autograd/derivatives.c", CG_FACTS_OF_DERIVATIVES},
    {"derivatives.h.m4", "autograd/derivatives.h", CG_FACTS_CALLS},
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
    unsigned which;
} facts;

static bool write_facts(const cg_outputs *o, unsigned which, tn_dtypes loops, FILE *to)
{
    const char *ns = o->plugin ? o->plugin : "aten", *prefix = o->plugin ? o->plugin : "autograd";
    bool ok = true;
    if (which & ~CG_FACTS_OF_DERIVATIVES)
        ok = cg_facts_write(o->ops, ns, which, loops, to);
    if (which & CG_FACTS_OF_DERIVATIVES)
        ok = cg_facts_write_derivatives(o->derivatives, prefix, which, to) && ok;
    return ok;
}

/* Pointwise facts have the loops of these dtypes. */
static bool make_facts(const cg_outputs *o, unsigned which, tn_dtypes loops, facts *out)
{
    *out = (facts){.which = which};
    FILE *to = open_memstream(&out->s, &out->n);
    if (!to)
        return false;
    bool ok = write_facts(o, which, loops, to);
    return fclose(to) == 0 && ok;
}

/* What the loops of one dtype are made of. */
static bool make_loops(const cg_ops *ops, tn_dtype dtype, facts *out)
{
    *out = (facts){.s = NULL};
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
/* Its own operators. */
static bool make_operators(cg_diag *d, cg_out *out, const cg_outputs *o)
{
    char source[128], header[128], calls[128];
    facts all, forms;
    snprintf(source, sizeof source, "%s_ops.c", o->plugin);
    snprintf(header, sizeof header, "%s_ops.h", o->plugin);
    snprintf(calls, sizeof calls, "%s_calls.h", o->plugin);
    bool ok = make_facts(o, CG_FACTS_ALL, TN_DTYPES_ALL, &all);
    ok = make_facts(o, CG_FACTS_FORMS, 0, &forms) && ok;
    const cg_job jobs[] = {{"plugin_ops.c.m4", all.s, all.n, source},
                           {"plugin_ops.h.m4", all.s, all.n, header},
                           {"plugin_calls.h.m4", forms.s, forms.n, calls}};
    ok = ok ? cg_emit_all(d, out, jobs, 3) : out_of_memory(d, o);
    free(all.s);
    free(forms.s);
    return ok;
}

/* What its kernels call. */
static bool make_calls(cg_diag *d, cg_out *out, const cg_outputs *o)
{
    char source[128], header[128];
    facts calls = {.s = NULL};
    snprintf(source, sizeof source, "%s_work.c", o->plugin);
    snprintf(header, sizeof header, "%s_work.h", o->plugin);
    FILE *to = open_memstream(&calls.s, &calls.n);
    bool ok = to && cg_kernel_calls_write(o->calls, o->plugin, to);
    ok = to && fclose(to) == 0 && ok;
    const cg_job jobs[] = {{"kernel_calls.c.m4", calls.s, calls.n, source},
                           {"kernel_calls.h.m4", calls.s, calls.n, header}};
    ok = ok ? cg_emit_all(d, out, jobs, 2) : out_of_memory(d, o);
    free(calls.s);
    return ok;
}

static bool make_plugin(cg_diag *d, cg_out *out, const cg_outputs *o)
{
    return (!o->ops || make_operators(d, out, o)) && (!o->calls || make_calls(d, out, o));
}

/* ---- the built-in ones ----------------------------------------------------------------------- */
typedef struct plan {
    cg_job jobs[N_OUTPUTS + N_DERIVATIVE_OUTPUTS + N_DTYPE_OUTPUTS * TN_DTYPE_COUNT];
    char paths[N_DTYPE_OUTPUTS * TN_DTYPE_COUNT][64];
    facts facts[N_OUTPUTS + N_DERIVATIVE_OUTPUTS + TN_DTYPE_COUNT];
    int n, n_paths, n_facts;
} plan;

/* Made once for all outputs that look at the same ones. NULL: out of memory. */
static const facts *plan_facts(plan *p, const cg_outputs *o, unsigned which)
{
    for (int i = 0; i < p->n_facts; i++)
        if (p->facts[i].which == which)
            return &p->facts[i];
    facts *made = &p->facts[p->n_facts++];
    return make_facts(o, which, 0, made) ? made : NULL;
}

static bool plan_outputs(plan *p, const cg_outputs *o, const output *rows, int n)
{
    for (int i = 0; i < n; i++) {
        const facts *f = plan_facts(p, o, rows[i].facts);
        if (!f)
            return false;
        p->jobs[p->n++] = (cg_job){rows[i].template, f->s, f->n, rows[i].path};
    }
    return true;
}

static bool plan_dtype(plan *p, const cg_outputs *o, tn_dtype dtype)
{
    facts *loops = &p->facts[p->n_facts++];
    if (!make_loops(o->ops, dtype, loops))
        return false;
    for (int i = 0; i < N_DTYPE_OUTPUTS; i++) {
        if (!(dtype_outputs[i].dtypes & TN_DTYPE_BIT(dtype)))
            continue;
        char *path = p->paths[p->n_paths++];
        snprintf(path, sizeof p->paths[0], dtype_outputs[i].path_format, cg_suffix(dtype));
        p->jobs[p->n++] = (cg_job){dtype_outputs[i].template, loops->s, loops->n, path};
    }
    return true;
}

static bool make_core(cg_diag *d, cg_out *out, const cg_outputs *o)
{
    plan p = {.n = 0};
    bool ok = plan_outputs(&p, o, outputs, N_OUTPUTS);
    if (o->derivatives->n || o->derivatives->n_callees)
        ok = ok && plan_outputs(&p, o, derivative_outputs, N_DERIVATIVE_OUTPUTS);
    for (tn_dtype dtype = 0; ok && dtype < TN_DTYPE_COUNT; dtype++)
        ok = plan_dtype(&p, o, dtype);
    ok = ok ? cg_emit_all(d, out, p.jobs, p.n) : out_of_memory(d, o);
    for (int i = 0; i < p.n_facts; i++)
        free(p.facts[i].s);
    return ok;
}

bool cg_outputs_make(cg_diag *d, cg_out *out, const cg_outputs *o)
{
    return o->plugin ? make_plugin(d, out, o) : make_core(d, out, o);
}

bool cg_outputs_dump(cg_diag *d, const cg_outputs *o, FILE *to)
{
    bool ok = !o->ops || write_facts(o, CG_FACTS_ALL, TN_DTYPES_ALL, to);
    ok = ok && (!o->calls || cg_kernel_calls_write(o->calls, o->plugin, to));
    return ok || out_of_memory(d, o);
}
