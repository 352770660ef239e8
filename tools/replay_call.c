/* replay_call.c - one case: the call on the device, its judgement, then the same call on meta.
 *
 * The frame is walked by tn_op_fields alone; no operator is known here by its type. A call must
 * give the recorded results, leave every argument that is not marked as written as it was, give an
 * in-place form's own argument back, and on meta the same dtypes and shapes. */
#include "replay_impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    const char *name;
    const json_t *case_;
    const tn_op *op;
    const tn_field *fields; /* results, then arguments */
    int n_results, n_args;
    char *frame;
    replay_build build;
    replay_outcome *outcome;
} run;

void replay_set(replay_outcome *o, replay_state state, const char *reason, const char *format, ...)
{
    va_list ap;
    o->state = state;
    snprintf(o->reason, sizeof o->reason, "%s", reason);
    va_start(ap, format);
    vsnprintf(o->message, sizeof o->message, format, ap);
    va_end(ap);
}

static bool fail(run *r, const char *where, const char *why)
{
    replay_set(r->outcome, REPLAY_FAILED, "", "%s%s%s%s", r->build.meta ? "on meta: " : "", where,
               *where ? ": " : "", why);
    return false;
}

/* ---- building ------------------------------------------------------------------------------- */
/* The recorded schema may be older or newer than ours: arguments are matched by name. */
static bool check_schema(run *r)
{
    const json_t *args = json_object_get(r->case_, "args");
    size_t matched = 0;
    for (int i = 0; i < r->n_args; i++) {
        const tn_field *f = &r->fields[r->n_results + i];
        if (json_object_get(args, f->name)) {
            matched++;
        } else if (!(f->flags & TN_FIELD_DEFAULTED)) {
            replay_set(r->outcome, REPLAY_UNSUPPORTED, "another schema here",
                       "the case has no argument %s, which %s needs", f->name, tn_op_schema(r->op));
            return false;
        }
    }
    if (matched == json_object_size(args))
        return true;
    replay_set(r->outcome, REPLAY_UNSUPPORTED, "another schema here",
               "the case has arguments that %s does not have", tn_op_schema(r->op));
    return false;
}

/* An operator without tensor arguments is told by its device argument where to run. */
static void aim_device(run *r)
{
    if (!r->build.meta)
        return;
    for (int i = 0; i < r->n_args; i++)
        if (r->fields[r->n_results + i].kind == TN_FIELD_TENSOR ||
            r->fields[r->n_results + i].kind == TN_FIELD_TENSORS)
            return;
    for (int i = 0; i < r->n_args; i++)
        if (r->fields[r->n_results + i].kind == TN_FIELD_DEVICE)
            *(tn_device *)(r->frame + r->fields[r->n_results + i].offset) =
                (tn_device){TN_META, -1};
}

static bool fill_frame(run *r)
{
    const json_t *args = json_object_get(r->case_, "args");
    tn_op_frame_init(r->op, r->frame);
    for (int i = 0; i < r->n_args; i++) {
        const tn_field *f = &r->fields[r->n_results + i];
        const json_t *v = json_object_get(args, f->name);
        if (!v || replay_fill(&r->build, f, v, r->frame + f->offset))
            continue;
        char why[REPLAY_MESSAGE];
        memcpy(why, r->outcome->message, sizeof why);
        snprintf(r->outcome->message, sizeof r->outcome->message, "argument %s: %.1300s", f->name,
                 why);
        return false;
    }
    aim_device(r);
    return true;
}

/* ---- judging -------------------------------------------------------------------------------- */
static replay_tolerance tolerance_of(const run *r)
{
    const json_t *rtol = json_object_get(r->case_, "rtol"),
                 *atol = json_object_get(r->case_, "atol");
    const char *compare = json_string_value(json_object_get(r->case_, "compare"));
    return (replay_tolerance){
        .rtol = json_number_value(rtol),
        .atol = json_number_value(atol),
        .exact = !rtol && !atol,
        .meta_only = r->build.meta || (compare && strcmp(compare, "meta") == 0),
    };
}

static replay_args args_of(const run *r)
{
    return (replay_args){r->name,   r->fields + r->n_results,         r->n_args, r->frame,
                         &r->build, json_object_get(r->case_, "args")};
}

/* Does the argument self, along the call's dim, hold equal values at both arrays' indices? */
static bool tie(const run *r, const char *where, const replay_array *got, const replay_array *want)
{
    replay_args args = args_of(r);
    replay_array self;
    double dim = strstr(r->name, "::arg") ? TN_MAX_DIMS : -1;
    if (got->dtype != TN_I64 || !replay_ties(&args, where) ||
        !replay_arg_tensor(&args, "self", &self))
        return false;
    replay_arg_number(&args, "dim", &dim);
    return replay_same_selection(r->name, &self, (int64_t)dim, got, want);
}

/* The values differ: a tie, a kind of wrong recording, or a failure. */
static bool judge_values(run *r, const char *where, const replay_array *got,
                         const replay_array *want, const char *why)
{
    replay_args args = args_of(r);
    if (tie(r, where, got, want))
        return true;
    const char *known = replay_wrong_value(&args, got, want, tolerance_of(r));
    if (!known)
        return fail(r, where, why);
    replay_set(r->outcome, REPLAY_KNOWN, known, "%s: %s", where, why);
    return false;
}

static bool check_tensor(run *r, const char *where, const tn_tensor *t, const json_t *value)
{
    replay_array got, want;
    st_entry storage;
    char why[REPLAY_MESSAGE - 100];
    if (!t || json_is_null(value))
        return (!t && json_is_null(value)) ||
               fail(r, where, t ? "no tensor expected, got one" : "a tensor expected, got none");
    if (!replay_recorded(r->build.file, r->build.n, value, &want, &storage, r->outcome))
        return false;
    replay_array_of(t, &got);
    if (!replay_same_form(&got, &want, why, sizeof why))
        return fail(r, where, why);
    return replay_same(&got, &want, tolerance_of(r), why, sizeof why) ||
           judge_values(r, where, &got, &want, why);
}

static bool check_tensors(run *r, const char *where, const tn_tensors *list, const json_t *value)
{
    char place[REPLAY_NAME + 40], why[80];
    if (!json_is_array(value) || (int64_t)json_array_size(value) != list->len) {
        snprintf(why, sizeof why, "%zu tensors expected, got %lld", json_array_size(value),
                 (long long)list->len);
        return fail(r, where, why);
    }
    for (int64_t i = 0; i < list->len; i++) {
        snprintf(place, sizeof place, "%s[%lld]", where, (long long)i);
        if (!check_tensor(r, place, list->data[i], json_array_get(value, (size_t)i)))
            return false;
    }
    return true;
}

/* A result that is no tensor: compared as one double, exactly or within the tolerance. */
static bool check_number(run *r, const tn_field *f, const char *where, const json_t *value)
{
    tn_scalar got, want;
    char buffer[64] __attribute__((aligned(8))) = {0};
    const void *at = r->frame + f->offset;
    tn_field as = *f;
    as.kind = TN_FIELD_SCALAR;
    if (f->kind == TN_FIELD_INT)
        got = tn_scalar_int(*(const int64_t *)at);
    else if (f->kind == TN_FIELD_FLOAT)
        got = tn_scalar_float(*(const double *)at);
    else if (f->kind == TN_FIELD_BOOL)
        got = tn_scalar_bool(*(const bool *)at);
    else if (f->kind == TN_FIELD_SCALAR)
        got = *(const tn_scalar *)at;
    else
        return fail(r, where, "a result of this type cannot be compared");
    if (r->build.meta)
        return true;
    if (!replay_fill(&r->build, &as, value, buffer))
        return false;
    memcpy(&want, buffer, sizeof want);
    tn_dtype dtypes[] = {TN_F64, TN_I64, TN_I64, TN_C128};
    replay_array a = {.dtype = dtypes[got.kind & 3], .numel = 1, .data = (const char *)&got.v};
    replay_array b = {.dtype = dtypes[want.kind & 3], .numel = 1, .data = (const char *)&want.v};
    char why[REPLAY_MESSAGE - 100] = "a number of another kind";
    return (got.kind == want.kind && replay_same(&a, &b, tolerance_of(r), why, sizeof why)) ||
           fail(r, where, why);
}

static bool check_field(run *r, const tn_field *f, const json_t *value)
{
    const void *at = r->frame + f->offset;
    if (f->kind == TN_FIELD_TENSOR)
        return check_tensor(r, f->name, *(tn_tensor *const *)at, value);
    if (f->kind == TN_FIELD_TENSORS)
        return check_tensors(r, f->name, at, value);
    return check_number(r, f, f->name, value);
}

/* A result "Tensor(a!)" is the argument of that type itself. */
static bool check_same_tensor(run *r, const tn_field *result)
{
    if (result->kind != TN_FIELD_TENSOR || !(result->flags & TN_FIELD_WRITTEN))
        return true;
    for (int i = 0; i < r->n_args; i++) {
        const tn_field *f = &r->fields[r->n_results + i];
        if (f->kind == TN_FIELD_TENSOR && strcmp(f->type, result->type) == 0)
            return *(tn_tensor **)(r->frame + f->offset) ==
                       *(tn_tensor **)(r->frame + result->offset) ||
                   fail(r, result->name,
                        "the written argument itself expected, got another tensor");
    }
    return true;
}

/* The value of result i; NULL when another number is recorded. A Tensor[] that is an operator's
 * only result may stand without the outer list. */
static const json_t *recorded_result(const run *r, int i)
{
    const json_t *returns = json_object_get(r->case_, "returns");
    bool only_list = r->n_results == 1 && r->fields[0].kind == TN_FIELD_TENSORS;
    if (only_list && !(json_array_size(returns) == 1 && json_is_array(json_array_get(returns, 0))))
        return returns;
    return (int)json_array_size(returns) == r->n_results ? json_array_get(returns, (size_t)i)
                                                         : NULL;
}

/* A call that was written before it was made has no results to compare with. */
static bool has_no_results(const run *r)
{
    const char *compare = json_string_value(json_object_get(r->case_, "compare"));
    return compare && strcmp(compare, "none") == 0;
}

static bool check_results(run *r)
{
    if (has_no_results(r))
        return true;
    for (int i = 0; i < r->n_results; i++) {
        const json_t *value = recorded_result(r, i);
        if (!value)
            return fail(r, "results", "another number of results is recorded");
        if (!check_field(r, &r->fields[i], value) || !check_same_tensor(r, &r->fields[i]))
            return false;
    }
    const json_t *mutated = json_object_get(r->case_, "mutated");
    for (int i = r->n_results; i < r->n_results + r->n_args; i++) {
        const json_t *value = json_object_get(mutated, r->fields[i].name);
        if (value && !check_field(r, &r->fields[i], value))
            return false;
    }
    return true;
}

/* Memory outside what written arguments cover must be as recorded; all of it after a failure. */
static bool check_untouched(run *r, bool all)
{
    for (replay_storage *s = r->build.storages; s && !r->build.meta; s = s->next) {
        const char *now = tn_tensor_storage_data(s->base);
        for (size_t i = 0; i < s->entry.bytes; i++) {
            if (now[i] == s->entry.data[i] || (s->written[i] && !all))
                continue;
            char why[REPLAY_NAME + 80];
            snprintf(why, sizeof why,
                     "byte %zu of storage %s changed, which the call must not write", i, s->name);
            return fail(r, "arguments", why);
        }
    }
    return true;
}

/* ---- calling -------------------------------------------------------------------------------- */
static bool judge_failure(run *r, tn_status status)
{
    const char *message = tn_error_last()->message;
    bool raises = json_is_true(json_object_get(r->case_, "raises"));
    bool absent = status == TN_ERR_NO_KERNEL;
    if (absent || (status == TN_ERR_UNSUPPORTED && !raises)) {
        replay_set(r->outcome, REPLAY_UNSUPPORTED, absent ? "no kernel" : "the kernel declines",
                   "%s", message);
        return false;
    }
    replay_args args = args_of(r);
    const char *known = raises ? NULL : replay_wrong_success(&args);
    if (known)
        replay_set(r->outcome, REPLAY_KNOWN, known, "%s", message);
    if (!raises)
        return !known && fail(r, "", message);
    if (!message || !*message)
        return fail(r, "", "it failed without a message");
    snprintf(r->outcome->message, sizeof r->outcome->message, "%s", message);
    for (int i = 0; i < r->n_results; i++)
        if (r->fields[i].kind == TN_FIELD_TENSOR && *(tn_tensor **)(r->frame + r->fields[i].offset))
            return fail(r, r->fields[i].name, "a failed call left a result in its frame");
    return check_untouched(r, true);
}

/* ---- gradients ------------------------------------------------------------------------------ */
static bool judge_backward(run *r, tn_status status)
{
    const char *message = tn_error_last()->message;
    if (r->outcome->state != REPLAY_PASSED)
        return false;
    if (status != TN_ERR_UNSUPPORTED && status != TN_ERR_NO_KERNEL)
        return fail(r, "backward", message);
    replay_set(r->outcome, REPLAY_UNSUPPORTED, "no gradient", "%s", message);
    return false;
}

/* Two gradients of one recording lie in one storage: it holds only one of them. */
static bool shares_storage(const json_t *recorded, size_t i)
{
    const char *name = json_string_value(json_object_get(json_array_get(recorded, i), "tensor"));
    for (size_t k = 0; name && k < json_array_size(recorded); k++) {
        const json_t *other = json_object_get(json_array_get(recorded, k), "tensor");
        if (k != i && json_is_string(other) && strcmp(json_string_value(other), name) == 0)
            return true;
    }
    return false;
}

static bool judge_gradient(run *r, const replay_proof_case *c, size_t i, const replay_array *got,
                           const replay_array *want, const char *why)
{
    char where[40];
    bool both = got->data && want->data && got->dtype == want->dtype;
    snprintf(where, sizeof where, "gradient %zu", i);
    if (r->outcome->state != REPLAY_PASSED)
        return false;
    if (!both || !replay_gradient_proved(c, i, got, want, tolerance_of(r)))
        return fail(r, where, why);
    replay_set(r->outcome, REPLAY_KNOWN,
               shares_storage(json_object_get(r->case_, "grads"), i)
                   ? "two recorded gradients lie in one storage, which holds one of them"
                   : "a recorded gradient that differences of values contradict",
               "%s: %s", where, why);
    return false;
}

static bool check_gradients(run *r, const replay_proof_case *c, tn_tensor **grads)
{
    const json_t *recorded = json_object_get(r->case_, "grads");
    for (size_t i = 0; i < c->n_wanted; i++) {
        char why[REPLAY_MESSAGE - 100];
        replay_array got = {.data = NULL}, want = {.data = NULL};
        if (!replay_gradient_same(&r->build, grads[i], json_array_get(recorded, i), tolerance_of(r),
                                  &got, &want, why, sizeof why))
            return judge_gradient(r, c, i, &got, &want, why);
    }
    return true;
}

static bool call_with_gradients(run *r)
{
    replay_proof_case c = {
        .op = r->op, .args = args_of(r), .results = r->fields, .n_results = r->n_results};
    tn_tensor *grads[REPLAY_GRADS] = {NULL};
    if (!replay_require_gradients(&c.args, json_object_get(r->case_, "wrt"), r->outcome))
        return false;
    tn_error_clear();
    tn_status status = tn_op_call(r->op, r->frame);
    if (status != TN_OK)
        return judge_failure(r, status);
    status = replay_backward(&r->build, &c, r->case_, grads);
    bool ok = status == TN_OK ? check_gradients(r, &c, grads) : judge_backward(r, status);
    ok = ok && check_untouched(r, false);
    for (int i = 0; i < REPLAY_GRADS; i++)
        tn_release(grads[i]);
    tn_op_frame_release(r->op, r->frame);
    return ok;
}

/* ---- calls ---------------------------------------------------------------------------------- */
static bool call_and_judge(run *r)
{
    tn_error_clear();
    tn_status status = tn_op_call(r->op, r->frame);
    if (status != TN_OK)
        return judge_failure(r, status);
    bool raises = json_is_true(json_object_get(r->case_, "raises"));
    bool ok = raises && !r->build.meta ? fail(r, "", "the call must fail, and it did not")
                                       : raises || check_results(r);
    ok = ok && check_untouched(r, false);
    tn_op_frame_release(r->op, r->frame);
    return ok;
}

static bool attempt(run *r, bool meta)
{
    r->build =
        (replay_build){.file = r->build.file, .n = r->build.n, .meta = meta, .outcome = r->outcome};
    bool gradients = json_object_get(r->case_, "grads");
    bool ok = fill_frame(r) && (gradients ? call_with_gradients(r) : call_and_judge(r));
    replay_build_free(&r->build);
    return ok;
}

/* The same call without data. What has no kernel there, or cannot have one, is counted, not
 * failed. */
static void attempt_meta(run *r)
{
    replay_outcome kept = *r->outcome;
    if (json_is_true(json_object_get(r->case_, "raises"))) {
        attempt(r, true); /* what fails for its values cannot fail here; it must only not crash */
        *r->outcome = kept;
        return;
    }
    bool ok = attempt(r, true);
    replay_state state = r->outcome->state;
    if (ok) {
        r->outcome->meta = REPLAY_META_PASSED;
    } else if (replay_data_dependent(r->name, json_object_get(r->case_, "args"))) {
        *r->outcome = kept;
        r->outcome->meta = REPLAY_META_DATA;
    } else if (state == REPLAY_UNSUPPORTED) {
        *r->outcome = kept;
        r->outcome->meta = REPLAY_META_MISSING;
    }
}

/* Unsupported cases are told before anything is built. */
static bool find_op(run *r)
{
    r->op = tn_op_find(r->name);
    if (!r->op) {
        replay_set(r->outcome, REPLAY_UNSUPPORTED, "operator not present", "%s is not registered",
                   r->name);
        return false;
    }
    r->fields = tn_op_fields(r->op, &r->n_results, &r->n_args);
    for (int i = 0; i < r->n_results + r->n_args; i++)
        if (r->fields[i].kind == TN_FIELD_UNSUPPORTED) {
            replay_set(r->outcome, REPLAY_UNSUPPORTED, "no frame type", "%s: %s has no frame type",
                       r->fields[i].name, r->fields[i].type);
            return false;
        }
    return check_schema(r);
}

bool replay_prepared(const replay_file *f, size_t i, replay_outcome *o)
{
    char name[REPLAY_NAME];
    replay_case_name(f, i, name);
    run r = {.name = name, .case_ = replay_case(f, i), .outcome = o, .build = {.file = f}};
    return find_op(&r);
}

void replay_run_case(const replay_file *f, size_t i, replay_outcome *o)
{
    char name[REPLAY_NAME];
    replay_case_name(f, i, name);
    run r = {.name = name,
             .case_ = replay_case(f, i),
             .outcome = o,
             .build = {.file = f, .n = replay_case_number(f, i)}};
    o->state = REPLAY_PASSED;
    if (!find_op(&r))
        return;
    r.frame = calloc(1, tn_op_frame_size(r.op));
    if (!r.frame) {
        replay_set(o, REPLAY_FAILED, "", "out of memory in the replay itself");
        return;
    }
    if (attempt(&r, false) && !json_object_get(r.case_, "grads"))
        attempt_meta(&r);
    if (o->state == REPLAY_MALFORMED && json_is_true(json_object_get(r.case_, "raises"))) {
        o->state = REPLAY_UNSUPPORTED; /* recorded to be refused, and it is: before the call */
        snprintf(o->reason, sizeof o->reason, "arguments that no tensor can be");
    }
    free(r.frame);
}
