/* blas.c - oneDNN for f32, OpenBLAS for f64 and complex numbers (and for f32 where oneDNN is
 * absent).
 *
 * Both run single-threaded here: gemm.c cuts a product into tiles that do not depend on the number
 * of threads, and parallel_for runs them. So results do not either, and neither library's threads
 * fight the core's. OpenBLAS has one count of threads per process, which is set to 1 when it is
 * opened; oneDNN's is the calling thread's OpenMP setting, which is put back.
 * TENON_BLAS=openblas|none leaves oneDNN or both alone (for tests and comparisons). */
#include "blas.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The few constants and prototypes of CBLAS and oneDNN that are used; both ABIs have been stable
 * for many years. */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };
typedef void (*sgemm_fn)(int order, int ta, int tb, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);
typedef void (*dgemm_fn)(int order, int ta, int tb, int m, int n, int k, double alpha,
                         const double *a, int lda, const double *b, int ldb, double beta, double *c,
                         int ldc);
typedef void (*complex_gemm_fn)(int order, int ta, int tb, int m, int n, int k, const void *alpha,
                                const void *a, int lda, const void *b, int ldb, const void *beta,
                                void *c, int ldc);
typedef int (*dnnl_sgemm_fn)(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                             const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                             float *c, int64_t ldc);

static sgemm_fn sgemm;
static dgemm_fn dgemm;
static complex_gemm_fn cgemm, zgemm;
static dnnl_sgemm_fn dnnl_sgemm;

/* A data pointer as a function pointer, as POSIX allows and ISO C does not. */
static void find(void *library, const char *name, void *fn)
{
    void *symbol = dlsym(library, name);
    memcpy(fn, &symbol, sizeof symbol);
}

static bool allowed(const char *name)
{
    const char *asked = getenv("TENON_BLAS");
    return !asked || strcmp(asked, name) == 0 ||
           (strcmp(asked, "none") != 0 && strcmp(asked, "openblas") != 0);
}

/* OpenBLAS takes a processor that is younger than it is for one of 2004, and its SSE3 kernels then
 * run at a fifth of ours. OPENBLAS_CORETYPE=SkylakeX in the environment helps it. */
static bool knows_processor(void *library)
{
    static const char *const names[] = {"Haswell",  "Zen",        "Excavator",
                                        "SkylakeX", "Cooperlake", "SapphireRapids"};
    char *(*corename)(void);
    find(library, "openblas_get_corename", &corename);
    if (!corename || cpu_isa_chosen() == CPU_BASELINE)
        return true;
    const char *chosen = corename();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(chosen, names[i]) == 0)
            return true;
    return false;
}

static void open_openblas(void)
{
    void *library = allowed("openblas") ? dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return;
    void (*set_threads)(int);
    find(library, "openblas_set_num_threads", &set_threads);
    if (set_threads)
        set_threads(1);
    if (knows_processor(library)) {
        find(library, "cblas_sgemm", &sgemm);
        find(library, "cblas_dgemm", &dgemm);
    }
    find(library, "cblas_cgemm", &cgemm);
    find(library, "cblas_zgemm", &zgemm);
}

static void open_dnnl(void)
{
    void *library = allowed("onednn") ? dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library)
        find(library, "dnnl_sgemm", &dnnl_sgemm);
}

/* ---- products -------------------------------------------------------------------------------- */
static int transposed(const cpu_matrix *x)
{
    return x->col == 1 ? NO_TRANSPOSE : TRANSPOSE;
}

static int leading(const cpu_matrix *x)
{
    return (int)(x->col == 1 ? x->row : x->col);
}

static void openblas_f32(const cpu_product *p)
{
    sgemm(ROW_MAJOR, transposed(&p->a), transposed(&p->b), (int)p->m, (int)p->n, (int)p->k,
          p->alpha.f32, (const float *)p->a.data, leading(&p->a), (const float *)p->b.data,
          leading(&p->b), p->beta.f32, (float *)p->c.data, (int)p->c.row);
}

static void openblas_f64(const cpu_product *p)
{
    dgemm(ROW_MAJOR, transposed(&p->a), transposed(&p->b), (int)p->m, (int)p->n, (int)p->k,
          p->alpha.f64, (const double *)p->a.data, leading(&p->a), (const double *)p->b.data,
          leading(&p->b), p->beta.f64, (double *)p->c.data, (int)p->c.row);
}

static void openblas_c64(const cpu_product *p)
{
    cgemm(ROW_MAJOR, transposed(&p->a), transposed(&p->b), (int)p->m, (int)p->n, (int)p->k,
          &p->alpha.c64, p->a.data, leading(&p->a), p->b.data, leading(&p->b), &p->beta.c64,
          p->c.data, (int)p->c.row);
}

static void openblas_c128(const cpu_product *p)
{
    zgemm(ROW_MAJOR, transposed(&p->a), transposed(&p->b), (int)p->m, (int)p->n, (int)p->k,
          &p->alpha.c128, p->a.data, leading(&p->a), p->b.data, leading(&p->b), &p->beta.c128,
          p->c.data, (int)p->c.row);
}

static void onednn_f32(const cpu_product *p)
{
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    int status = dnnl_sgemm(p->a.col == 1 ? 'N' : 'T', p->b.col == 1 ? 'N' : 'T', p->m, p->n, p->k,
                            p->alpha.f32, (const float *)p->a.data, leading(&p->a),
                            (const float *)p->b.data, leading(&p->b), p->beta.f32,
                            (float *)p->c.data, p->c.row);
    omp_set_num_threads(threads);
    if (status != 0)
        CPU_TABLE(gemm_f32)(p); /* out of memory for its packing, say */
}

cpu_product_fn cpu_blas(tn_dtype dtype)
{
    static pthread_once_t openblas_once = PTHREAD_ONCE_INIT, dnnl_once = PTHREAD_ONCE_INIT;
    if (dtype == TN_F32) {
        pthread_once(&dnnl_once, open_dnnl);
        if (dnnl_sgemm)
            return onednn_f32;
    }
    if (dtype < TN_F32)
        return NULL;
    pthread_once(&openblas_once, open_openblas);
    if (dtype == TN_F32)
        return sgemm ? openblas_f32 : NULL;
    if (dtype == TN_F64)
        return dgemm ? openblas_f64 : NULL;
    if (dtype == TN_C64)
        return cgemm ? openblas_c64 : NULL;
    return zgemm ? openblas_c128 : NULL;
}
