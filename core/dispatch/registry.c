/* registry.c - operators by name, kernels by key: what exists, how a transaction (stage.c) is
 * published, and how it is taken back.
 *
 * Names are checked when they are staged, ranks here; only then is anything touched, so all of a
 * plugin's declarations appear or none. One lock guards the registry; calls never take it. The
 * loader's own lock keeps transactions apart. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/dispatch/registry.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tn_op **by_name; /* sorted */
static size_t n_by_name, cap_by_name;
static tn__kernel *fallbacks[TN__SLOTS];

tn__kernel *tn__registry_fallback(int slot)
{
    return fallbacks[slot];
}

/* ---- names ----------------------------------------------------------------------------------- */
/* Where the name stands, or would. */
static size_t position(const char *name, size_t n, bool *found)
{
    size_t low = 0, high = n_by_name;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = tn__op_compare_name(name, n, by_name[mid]->name);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    *found = false;
    return low;
}

static tn_op *lookup_locked(const char *name, size_t n)
{
    bool found;
    size_t at = position(name, n, &found);
    return found ? by_name[at] : NULL;
}

tn_op *tn__op_lookup(const char *name, size_t n)
{
    pthread_mutex_lock(&lock);
    tn_op *op = lookup_locked(name, n);
    pthread_mutex_unlock(&lock);
    return op;
}

tn_op *tn__op_index(size_t i)
{
    pthread_mutex_lock(&lock);
    tn_op *op = i < n_by_name ? by_name[i] : NULL;
    pthread_mutex_unlock(&lock);
    return op;
}

/* ---- what an operator holds, for messages and tables ----------------------------------------- */
tn__how tn__registry_slot(const tn_op *op, int slot, const tn__kernel **k)
{
    pthread_mutex_lock(&lock);
    tn__how how = op->how[slot];
    *k = atomic_load_explicit(&((tn_op *)op)->slots[slot], memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return how;
}

static void append(char *buf, size_t cap, const char *text)
{
    size_t used = strlen(buf);
    if (used + 1 < cap)
        strncat(buf, text, cap - used - 1);
}

bool tn__registry_servers(const tn_op *op, char *buf, size_t cap)
{
    *buf = 0;
    pthread_mutex_lock(&lock);
    bool defined = op->defined;
    for (int key = 0; key < TN__REGISTRABLE; key++) {
        if (!op->kernels[key])
            continue;
        append(buf, cap, *buf ? ", " : "");
        append(buf, cap, tn__key_name(key));
        append(buf, cap, " (plugin ");
        append(buf, cap, tn__plugin_name(op->kernels[key]->plugin));
        append(buf, cap, ")");
    }
    pthread_mutex_unlock(&lock);
    return defined;
}

void tn__registry_counts(tn__plugin *plugin, size_t *ops, size_t *kernels)
{
    *ops = *kernels = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_by_name; i++) {
        *ops += by_name[i]->defined && by_name[i]->owner == plugin;
        for (int key = 0; key < TN__REGISTRABLE; key++)
            for (tn__kernel *k = by_name[i]->kernels[key]; k; k = k->next)
                *kernels += k->plugin == plugin;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- what goes ------------------------------------------------------------------------------- */
/* Records of unloaded plugins. They stay: a call in flight may still read one. */
static tn__kernel *retired;

static bool unlink_plugin(tn__kernel **list, const tn__plugin *plugin)
{
    bool changed = false;
    while (*list) {
        tn__kernel *k = *list;
        if (k->plugin == plugin) {
            *list = k->next;
            k->next = retired;
            retired = k;
            changed = true;
        } else {
            list = &(*list)->next;
        }
    }
    return changed;
}

/* What each fallback has replaced; of operators' own kernels tn__table_compute notes it. */
static void chain_fallbacks(void)
{
    for (int slot = 0; slot < TN__SLOTS; slot++)
        tn__list_chain(fallbacks[slot]);
}

/* The generation before: its kernels, and its operators, of which most come again in the same
 * transaction. The tables stay as they are: a call finds the old kernel or the new one. */
static void withdraw_replaced(const tn__plugin *replaced)
{
    for (int slot = 0; slot < TN__SLOTS; slot++)
        unlink_plugin(&fallbacks[slot], replaced);
    for (size_t i = 0; i < n_by_name; i++) {
        for (int key = 0; key < TN__REGISTRABLE; key++)
            unlink_plugin(&by_name[i]->kernels[key], replaced);
        if (by_name[i]->owner == replaced)
            by_name[i]->defined = false;
    }
}

/* ---- commit ---------------------------------------------------------------------------------- */
static tn__kernel **list_of(const tn__staged_kernel *s)
{
    return s->op ? &s->op->kernels[s->key] : &fallbacks[s->key];
}

static int by_op_and_key(const void *a, const void *b)
{
    const tn__staged_kernel *x = a, *y = b;
    if (x->op != y->op)
        return (uintptr_t)x->op < (uintptr_t)y->op ? -1 : 1;
    return x->key != y->key ? x->key - y->key : x->kernel->rank - y->kernel->rank;
}

/* Kernels are sorted by operator, key and rank, so two that collide within the transaction are
 * neighbours. */
static tn_status check_kernel(const tn_registry *r, size_t i)
{
    const tn__staged_kernel *s = &r->kernels[i];
    const char *name = s->op ? s->op->name : "the fallback", *key = tn__key_name(s->key);
    if (i && by_op_and_key(s - 1, s) == 0)
        return tn__fail(NULL, TN_ERR_PLUGIN, "%s registers two kernels of one rank for %s under %s",
                        tn__plugin_text(r->plugin), name, key);
    for (tn__kernel *k = *list_of(s); k; k = k->next)
        if (k->rank == s->kernel->rank && (!r->replaced || k->plugin != r->replaced))
            return tn__fail(NULL, TN_ERR_PLUGIN,
                            "%s already has a kernel of rank %d for %s, from %s; %s must give "
                            "another rank to replace it",
                            name, k->rank, key, tn__plugin_text(k->plugin),
                            tn__plugin_text(r->plugin));
    return TN_OK;
}

static void insert_by_rank(const tn_registry *r, const tn__staged_kernel *s)
{
    tn__kernel **list = list_of(s), *k = s->kernel;
    while (*list && (*list)->rank > k->rank)
        list = &(*list)->next;
    if (*list && s->op && (*list)->plugin != r->plugin)
        tn__plugin_remark(r->plugin, "its kernel of %s for %s replaces that of %s", s->op->name,
                          tn__key_name(s->key), tn__plugin_text((*list)->plugin));
    k->next = *list;
    *list = k;
}

/* What a later transaction replaced. It stays: a call in flight may still read it. */
static tn_op *retired_ops;
static tn__structure *retired_structures;

static void retire_structure(tn__structure *old)
{
    for (const tn__structure *s = retired_structures; s; s = s->retired)
        if (s == old)
            return; /* through another form */
    old->retired = retired_structures;
    retired_structures = old;
}

static void publish_op(const tn__staged_op *s, tn__plugin *plugin)
{
    tn_op *op = s->op;
    if (op->structure)
        retire_structure(op->structure);
    op->owner = plugin;
    op->structure = s->structure;
    op->form = s->form;
    memcpy(op->forms, s->forms, sizeof op->forms);
    op->given_offset = tn__given_offset(op);
    op->defined = true;
    bool found;
    size_t at = position(op->name, strlen(op->name), &found);
    if (!found) {
        memmove(by_name + at + 1, by_name + at, (n_by_name - at) * sizeof *by_name);
        n_by_name++;
    } else if (by_name[at] != op) {
        by_name[at]->retired = retired_ops;
        retired_ops = by_name[at];
        tn__table_compute(retired_ops);
    }
    by_name[at] = op;
}

static tn_status reserve_names(size_t more)
{
    if (n_by_name + more <= cap_by_name)
        return TN_OK;
    size_t cap = (n_by_name + more) * 2;
    tn_op **p = tn__realloc(by_name, cap * sizeof *p);
    if (!p)
        return tn__fail_memory(NULL, cap * sizeof *p);
    by_name = p;
    cap_by_name = cap;
    return TN_OK;
}

static tn_status commit_locked(tn_registry *r)
{
    if (r->n_kernels)
        qsort(r->kernels, r->n_kernels, sizeof *r->kernels, by_op_and_key);
    for (size_t i = 0; i < r->n_kernels; i++)
        TN__TRY(check_kernel(r, i));
    TN__TRY(tn__device_check_successor(r->replaced, r->devices));
    TN__TRY(reserve_names(r->n_ops));
    if (r->replaced)
        withdraw_replaced(r->replaced);
    for (size_t i = 0; i < r->n_ops; i++)
        publish_op(&r->ops[i], r->plugin);
    bool fallback = false;
    for (size_t i = 0; i < r->n_kernels; i++) {
        insert_by_rank(r, &r->kernels[i]);
        fallback |= !r->kernels[i].op;
    }
    chain_fallbacks();
    tn__device_succeed(r->replaced, r->devices);
    for (size_t i = 0; i < r->n_kernels; i++)
        if (r->kernels[i].op && (i + 1 == r->n_kernels || r->kernels[i + 1].op != r->kernels[i].op))
            tn__table_compute(r->kernels[i].op);
    for (size_t i = 0; i < r->n_ops; i++)
        tn__table_compute(r->ops[i].op);
    for (size_t i = 0; (fallback || r->replaced) && i < n_by_name; i++)
        tn__table_compute(by_name[i]);
    return TN_OK;
}

static void drop_lists(tn_registry *r)
{
    tn__free(r->ops);
    tn__free(r->kernels);
    r->ops = NULL;
    r->kernels = NULL;
    r->n_ops = r->n_kernels = r->cap_ops = r->cap_kernels = 0;
}

tn_status tn__registry_commit(tn_registry *r)
{
    if (r->status == TN_OK) {
        pthread_mutex_lock(&lock);
        r->status = commit_locked(r);
        pthread_mutex_unlock(&lock);
    }
    tn_status status = r->status;
    if (status == TN_OK)
        drop_lists(r);
    else
        tn__registry_rollback(r);
    return status;
}

void tn__registry_rollback(tn_registry *r)
{
    tn__structure *freed = NULL;
    for (size_t i = 0; i < r->n_ops; i++) {
        if (r->ops[i].structure != freed)
            tn__free(r->ops[i].structure);
        freed = r->ops[i].structure;
        if (!r->ops[i].again)
            tn__op_free(r->ops[i].op);
    }
    while (r->made) {
        tn__kernel *k = r->made;
        r->made = k->made_before;
        tn__free(k->owned);
        tn__free(k);
    }
    for (int type = 0; type < TN_DEVICE_TYPES; type++)
        if (r->devices >> type & 1)
            tn__device_withdraw(type, r->new_devices >> type & 1);
    drop_lists(r);
}

/* ---- removal --------------------------------------------------------------------------------- */
void tn__registry_recompute(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_by_name; i++)
        tn__table_compute(by_name[i]);
    pthread_mutex_unlock(&lock);
}

void tn__registry_remove(tn__plugin *plugin)
{
    pthread_mutex_lock(&lock);
    bool all = false;
    for (int slot = 0; slot < TN__SLOTS; slot++)
        all |= unlink_plugin(&fallbacks[slot], plugin);
    chain_fallbacks();
    for (size_t i = 0; i < n_by_name; i++) {
        tn_op *op = by_name[i];
        bool changed = all;
        for (int key = 0; key < TN__REGISTRABLE; key++)
            changed |= unlink_plugin(&op->kernels[key], plugin);
        if (op->owner == plugin && plugin) {
            op->defined = false;
            changed = true;
        }
        if (changed)
            tn__table_compute(op);
    }
    pthread_mutex_unlock(&lock);
    tn__device_remove(plugin);
}
