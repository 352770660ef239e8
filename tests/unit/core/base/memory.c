/* The block cache: what is released comes back, on which thread it is released does not matter, and
 * a thread that ends keeps nothing. Under a sanitizer there is no cache; then only the counts are
 * looked at. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include <tenon/tensor.h>

#include "core/base/base.h"

/* Of the address sanitizer: an allocation that is too large is an error here, no reason to
 * abort. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

TestSuite(memory, .timeout = 60);

static tn__memory_stats stats(void)
{
    tn__memory_stats s;
    tn__memory_get(&s);
    return s;
}

static tn_tensor *made(int64_t n)
{
    tn_tensor *t = NULL;
    cr_assert_eq(tn_tensor_new(1, &n, TN_F32, (tn_device){TN_CPU, 0}, &t), TN_OK);
    memset(t->data, 1, (size_t)n * 4);
    return t;
}

Test(memory, blocks_are_aligned_and_counted)
{
    tn__memory_stats before = stats();
    void *blocks[400];
    size_t sizes[400];
    for (int i = 0; i < 400; i++) {
        sizes[i] = (size_t)i * i * 17;
        blocks[i] = tn__block_alloc(sizes[i]);
        cr_assert_not_null(blocks[i]);
        cr_assert_eq((uintptr_t)blocks[i] % 64, 0);
        memset(blocks[i], i, sizes[i]);
    }
    cr_assert_eq(stats().live_blocks, before.live_blocks + 400);
    for (int i = 0; i < 400; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            cr_assert_eq(((unsigned char *)blocks[i])[j], (unsigned char)i);
        tn__block_free(blocks[i], sizes[i]);
    }
    cr_assert_eq(stats().live_blocks, before.live_blocks);
    cr_assert_null(tn__block_alloc(SIZE_MAX));
    cr_assert_null(tn__block_alloc((size_t)INT64_MAX));
    cr_assert_null(tn__block_alloc((size_t)1 << 47));
    tn__block_free(NULL, 100);
    tn__block_trim();
    cr_assert_eq(stats().cached_bytes, 0);
    cr_assert_eq(stats().live_blocks, before.live_blocks);
}

Test(memory, trimming_returns_every_cached_byte)
{
    tn__memory_stats before = stats();
    for (int64_t n = 1; n < 1 << 24; n = n * 5 / 3 + 1) {
        tn_tensor *t = made(n);
        tn_release(t);
    }
    cr_assert_eq(stats().live_blocks, before.live_blocks);
    tn__block_trim();
    cr_assert_eq(stats().cached_bytes, 0);
    cr_assert_eq(stats().live_blocks, before.live_blocks);
    tn_tensor *t = made(9); /* and the cache works on */
    tn_release(t);
    cr_assert_eq(stats().live_blocks, before.live_blocks);
}

/* ---- threads --------------------------------------------------------------------------------- */
enum { N = 300 };
static tn_tensor *handed_over[N];

static void *make_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < N; i++) {
        tn_release(made(i % 40 + 1)); /* something stays in this thread's cache, too */
        handed_over[i] = made(1 + (int64_t)i * i % 5000);
    }
    return NULL;
}

static void *release_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < N; i++) {
        for (int64_t j = 0; j < handed_over[i]->numel; j++)
            cr_assert_eq(((const uint32_t *)handed_over[i]->data)[j], 0x01010101);
        tn_release(handed_over[i]);
    }
    return NULL;
}

static void in_thread(void *(*fn)(void *))
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, fn, NULL), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

Test(memory, tensors_may_be_released_by_another_thread)
{
    tn_release(made(3));
    int64_t before = stats().live_blocks;
    in_thread(make_all); /* made there, released here */
    cr_assert_eq(stats().live_blocks, before + 2 * N, "what the thread kept is gone with it");
    release_all(NULL);
    cr_assert_eq(stats().live_blocks, before);
    make_all(NULL); /* made here, released there */
    in_thread(release_all);
    cr_assert_eq(stats().live_blocks, before);
    in_thread(make_all);
    in_thread(release_all);
    cr_assert_eq(stats().live_blocks, before);
}

static pthread_key_t late_key;

static void release_late(void *t)
{
    tn_release(t);
}

/* A thread-local variable of the program, destroyed after the cache's own or before it. */
static void *leave_one(void *arg)
{
    (void)arg;
    tn_release(made(3));
    cr_assert_eq(pthread_setspecific(late_key, made(77)), 0);
    return NULL;
}

Test(memory, a_tensor_may_be_released_while_its_thread_ends)
{
    tn_release(made(3));
    int64_t before = stats().live_blocks;
    cr_assert_eq(pthread_key_create(&late_key, release_late), 0);
    for (int i = 0; i < 4; i++)
        in_thread(leave_one);
    cr_assert_eq(stats().live_blocks, before);
}

Test(memory, a_failure_comes_when_it_was_asked_for)
{
    tn__alloc_fail_at(3);
    void *a = tn__alloc(8), *b = tn__zalloc(8), *c = tn__alloc(8), *d = tn__alloc(8);
    cr_assert(a && b && !c && d);
    tn__free(a);
    tn__free(b);
    tn__free(d);
    tn__alloc_fail_at(2);
    a = tn__block_alloc(100);
    b = tn__block_alloc(100);
    cr_assert(a && !b);
    tn__block_free(a, 100);
    tn__alloc_fail_at(-2);
    a = tn__alloc(8), b = tn__alloc(8), c = tn__block_alloc(100);
    cr_assert(a && !b && !c);
    tn__free(a);
    tn__alloc_fail_at(0);
    char *s = tn__strdup("text");
    tn__alloc_fail_at(1);
    cr_assert_null(tn__realloc(s, 100));
    tn__alloc_fail_at(0);
    cr_assert_str_eq(s, "text");
    tn__free(s);
}
