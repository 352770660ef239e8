/* matmul.c - mm, bmm, addmm: cuBLAS for floating and complex matrices, a kernel of ours for whole
 * numbers.
 *
 * cuBLAS is opened at the first product, so the plugin loads without it. It counts columns first:
 * a row-major product is the column-major product of the transposes, b's before a's. A matrix
 * whose rows or columns are not dense is packed first. f16 and bf16 are summed in f32. */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <pthread.h>

#include "pointwise.h"
#include "rows.h"

typedef struct product {
    tn_tensor *a, *b, *c;
    const tn_scalar *alpha, *beta; /* NULL: 1 and 0 */
} product;

/* ---- the library ---------------------------------------------------------------------------- */
static struct {
    __typeof__(cublasCreate_v2) *create;
    __typeof__(cublasSetStream_v2) *set_stream;
    __typeof__(cublasGemmStridedBatchedEx) *gemm;
    __typeof__(cublasGetStatusString) *text;
} blas;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a handle serves one call at a time */
static cublasHandle_t handles[CUDA_MAX_DEVICES];
static bool usable;

static bool find(void *library, const char *name, void *out)
{
    *(void **)out = dlsym(library, name);
    return *(void **)out != NULL;
}

static void open_blas(void)
{
    void *library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
    usable = library && find(library, "cublasCreate_v2", &blas.create) &&
             find(library, "cublasSetStream_v2", &blas.set_stream) &&
             find(library, "cublasGemmStridedBatchedEx", &blas.gemm) &&
             find(library, "cublasGetStatusString", &blas.text);
}

static tn_status check(tn_call *call, cublasStatus_t status, const char *doing)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return TN_OK;
    return tn->fail(call, TN_ERR_DEVICE, "cuBLAS error while %s: %s", doing, blas.text(status));
}

/* ---- operands -------------------------------------------------------------------------------- */
typedef struct matrix {
    tn_tensor *t; /* a reference of ours */
    int64_t rows, columns, ld, step;
    bool transposed; /* dense along columns */
} matrix;

static bool lay_out(matrix *m)
{
    const tn_tensor *t = m->t;
    int r = t->ndim - 2;
    int64_t sr = t->strides[r], sc = t->strides[r + 1];
    m->rows = t->sizes[r];
    m->columns = t->sizes[r + 1];
    m->step = t->ndim == 3 ? t->strides[0] : 0;
    if (m->columns == 1)
        sc = 1;
    m->transposed = false;
    if (m->rows == 1)
        sr = m->columns > sr ? m->columns : sr;
    m->ld = sr;
    if (sc == 1 && sr >= m->columns && sr > 0)
        return true;
    if (t->sizes[r + 1] == 1)
        sc = t->strides[r + 1];
    m->transposed = true;
    m->ld = m->columns == 1 && sc < m->rows ? m->rows : sc;
    return t->strides[r] == 1 && m->ld >= m->rows && m->ld > 0;
}

static tn_status take(tn_call *call, matrix *m, tn_tensor *t, bool may_transpose)
{
    m->t = t;
    if (lay_out(m) && (may_transpose || !m->transposed)) {
        tn->tensor_retain(t);
        return TN_OK;
    }
    m->t = NULL;
    TN_TRY(tn->tensor_new(call, t->ndim, t->sizes, t->dtype, t->device, &m->t));
    lay_out(m);
    return cuda_copy_tensor(call, m->t, t);
}

static cudaDataType blas_type(tn_dtype dtype)
{
    switch (dtype) {
    case TN_F16:
        return CUDA_R_16F;
    case TN_BF16:
        return CUDA_R_16BF;
    case TN_F64:
        return CUDA_R_64F;
    case TN_C64:
        return CUDA_C_32F;
    case TN_C128:
        return CUDA_C_64F;
    default:
        return CUDA_R_32F;
    }
}

static tn_number factor(tn_dtype dtype, const tn_scalar *s, int64_t otherwise)
{
    const tn_scalar number = {{.i = otherwise}, TN_SCALAR_INT, 0};
    return tn_number_of(dtype, s ? s : &number);
}

static tn_status call_blas(tn_call *call, const matrix *a, const matrix *b, const matrix *c,
                           const product *p)
{
    tn_dtype dtype = c->t->dtype;
    bool wide = dtype == TN_F64 || dtype == TN_C128;
    tn_number alpha = factor(dtype, p->alpha, 1), beta = factor(dtype, p->beta, 0);
    cudaDataType type = blas_type(dtype);
    int64_t batch = c->t->ndim == 3 ? c->t->sizes[0] : 1;
    if (a->rows > INT32_MAX || b->columns > INT32_MAX || a->columns > INT32_MAX ||
        batch > INT32_MAX || a->ld > INT32_MAX || b->ld > INT32_MAX || c->ld > INT32_MAX)
        return tn->fail(call, TN_ERR_UNSUPPORTED,
                        "cuBLAS takes matrices of up to 2^31-1 rows and columns");
    cublasHandle_t *handle = &handles[cuda_ordinal(c->t->device)];
    if (!*handle)
        TN_TRY(check(call, blas.create(handle), "starting"));
    TN_TRY(check(call, blas.set_stream(*handle, cuda_stream(call)), "choosing the stream"));
    return check(call,
                 blas.gemm(*handle, b->transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                           a->transposed ? CUBLAS_OP_T : CUBLAS_OP_N, (int)b->columns, (int)a->rows,
                           (int)a->columns, &alpha, b->t->data, type, (int)b->ld, b->step,
                           a->t->data, type, (int)a->ld, a->step, &beta, c->t->data, type,
                           (int)c->ld, c->step, (int)batch,
                           wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                 "multiplying matrices");
}

static tn_status multiply_floating(tn_call *call, const product *p)
{
    matrix a = {NULL, 0, 0, 0, 0, false}, b = a, c = a;
    pthread_once(&opened, open_blas);
    if (!usable)
        return tn->fail(call, TN_ERR_UNSUPPORTED,
                        "matrix products on CUDA need cuBLAS; libcublas.so.13 is not installed");
    tn_status status = take(call, &a, p->a, true);
    if (status == TN_OK)
        status = take(call, &b, p->b, true);
    if (status == TN_OK)
        status = take(call, &c, p->c, false);
    if (status == TN_OK) {
        pthread_mutex_lock(&lock);
        status = call_blas(call, &a, &b, &c, p);
        pthread_mutex_unlock(&lock);
    }
    if (status == TN_OK && c.t != p->c)
        status = cuda_copy_tensor(call, p->c, c.t);
    tn->tensor_release(a.t);
    tn->tensor_release(b.t);
    tn->tensor_release(c.t);
    return status;
}

/* ---- whole numbers -------------------------------------------------------------------------- */
static void set_strides(int64_t strides[3], const tn_tensor *t)
{
    int64_t bytes = (int64_t)tn->dtype_size(t->dtype);
    strides[0] = t->ndim == 3 ? t->strides[0] * bytes : 0;
    strides[1] = t->strides[t->ndim - 2] * bytes;
    strides[2] = t->strides[t->ndim - 1] * bytes;
}

static tn_status multiply_whole(tn_call *call, const product *p)
{
    cuda_whole_product g = {
        .c = p->c->data, .a = p->a->data, .b = p->b->data, .alpha = 1, .dtype = p->c->dtype};
    set_strides(g.c_strides, p->c);
    set_strides(g.a_strides, p->a);
    set_strides(g.b_strides, p->b);
    g.m = p->a->sizes[p->a->ndim - 2];
    g.k = p->a->sizes[p->a->ndim - 1];
    g.n = p->b->sizes[p->b->ndim - 1];
    if (p->alpha)
        g.alpha = tn_scalar_as_int(p->alpha);
    if (p->beta)
        g.beta = tn_scalar_as_int(p->beta);
    int64_t batch = p->c->ndim == 3 ? p->c->sizes[0] : 1;
    int64_t tiles = ((g.m + CUDA_TILE - 1) / CUDA_TILE) * ((g.n + CUDA_TILE - 1) / CUDA_TILE);
    return cuda_launch(call, (cuda_kernel_address)cuda_whole_product_kernel, tiles * batch,
                       CUDA_TILE * CUDA_TILE, 0, &g);
}

static tn_status multiply(tn_call *call, const product *p)
{
    TN_TRY(cuda_enter(call, p->c->device));
    if (p->c->numel == 0)
        return TN_OK;
    return tn_dtype_in(p->c->dtype, TN_DTYPES_WHOLE) ? multiply_whole(call, p)
                                                     : multiply_floating(call, p);
}

static tn_status mm(tn_call *call, struct tn_mm_args *a)
{
    return multiply(call, &(product){.a = a->self, .b = a->mat2, .c = a->result});
}

static tn_status bmm(tn_call *call, struct tn_bmm_args *a)
{
    return multiply(call, &(product){.a = a->self, .b = a->mat2, .c = a->result});
}

/* beta 0 drops self, NaN and all; else the result starts as self. */
static tn_status addmm(tn_call *call, struct tn_addmm_args *a)
{
    bool keeps = tn_scalar_as_double(&a->beta) != 0 || tn_scalar_imaginary(&a->beta) != 0;
    TN_TRY(cuda_enter(call, a->result->device));
    if (keeps && a->result != a->self)
        TN_TRY(cuda_copy_tensor(call, a->result, a->self));
    return multiply(
        call,
        &(product){
            .a = a->mat1, .b = a->mat2, .c = a->result, .alpha = &a->alpha, .beta = &a->beta});
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(mm, "CUDA", mm),
    TN_KERNEL(bmm, "CUDA", bmm),
    TN_KERNEL(addmm, "CUDA", addmm),
};
const cuda_kernels cuda_matmul = {kernels, TN_COUNT(kernels)};
