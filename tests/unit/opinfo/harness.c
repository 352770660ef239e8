/* harness.c - the harness's own numbers, comparison and excuses: what every verdict stands on. The
 * sources are included, so that nothing of the command is needed. */
#include <criterion/criterion.h>
#include <math.h>

#include "tests/opinfo/array.c"
#include "tests/opinfo/compare.c"
#include "tests/opinfo/number.c"
#include "tests/opinfo/random.c"
#include "tests/opinfo/tolerances.c"

/* ---- numbers --------------------------------------------------------------------------------- */
Test(opinfo_number, every_half_comes_back)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t in = (uint16_t)bits, out;
        oi_num f = oi_load(&in, TN_F16), b = oi_load(&in, TN_BF16);
        oi_store(&out, TN_F16, f);
        cr_assert(isnan(f.re) || out == in, "float16 0x%04x came back as 0x%04x", bits, out);
        oi_store(&out, TN_BF16, b);
        cr_assert(isnan(b.re) || out == in, "bfloat16 0x%04x came back as 0x%04x", bits, out);
    }
}

Test(opinfo_number, rounding_goes_to_even)
{
    cr_expect_eq(oi_round(2049, TN_F16), 2048);
    cr_expect_eq(oi_round(2051, TN_F16), 2052);
    cr_expect_eq(oi_round(65519, TN_F16), 65504);
    cr_expect(isinf(oi_round(65520, TN_F16)));
    cr_expect_eq(oi_round(0x1p-25L, TN_F16), 0);
    cr_expect_eq(oi_round(0x1.8p-25L, TN_F16), 0x1p-24L);
    cr_expect_eq(oi_round(0x1.01p0L, TN_BF16), 1);
    for (int i = 0; i < 20000; i++) {
        oi_rng r = oi_rng_make(7, "round", i, 0);
        oi_real x = oi_uniform(&r, -1, 1) * ldexpl(1, (int)oi_uniform_int(&r, -160, 127));
        cr_assert_eq(oi_round(x, TN_F32), (oi_real)(float)x, "%.20Lg", x);
    }
}

Test(opinfo_number, promotion_is_symmetric_and_as_promised)
{
    for (tn_dtype a = 0; a < TN_DTYPE_COUNT; a++)
        for (tn_dtype b = 0; b < TN_DTYPE_COUNT; b++)
            cr_expect_eq(oi_promote(a, b), oi_promote(b, a), "%d %d", a, b);
    cr_expect_eq(oi_promote(TN_U8, TN_I8), TN_I16);
    cr_expect_eq(oi_promote(TN_U8, TN_I32), TN_I32);
    cr_expect_eq(oi_promote(TN_I64, TN_F16), TN_F16);
    cr_expect_eq(oi_promote(TN_F16, TN_BF16), TN_F32);
    cr_expect_eq(oi_promote(TN_F64, TN_C64), TN_C128);
    cr_expect_eq(oi_promote(TN_I64, TN_C64), TN_C64);
    cr_expect_eq(oi_promote(TN_BOOL, TN_U8), TN_U8);
}

Test(opinfo_number, casts_wrap_cut_and_test)
{
    cr_expect_eq(oi_cast(oi_int(300), TN_I64, TN_U8).i, 44);
    cr_expect_eq(oi_cast(oi_int(200), TN_I64, TN_I8).i, -56);
    cr_expect_eq(oi_cast(oi_float(-2.9L), TN_F64, TN_I32).i, -2);
    cr_expect_eq(oi_cast(oi_float(0.5L), TN_F64, TN_BOOL).i, 1);
    cr_expect_eq(oi_cast(oi_complex(0, 2), TN_C128, TN_BOOL).i, 1);
}

Test(opinfo_number, a_last_place_is_one)
{
    cr_expect_eq(oi_ulp(1, TN_F32), 0x1p-23L);
    cr_expect_eq(oi_ulp(1.5L, TN_F64), 0x1p-52L);
    cr_expect_eq(oi_ulp(0, TN_F16), 0x1p-24L);
    cr_expect_eq(oi_ulp(1e9L, TN_F16), 32);
}

/* ---- comparison ------------------------------------------------------------------------------ */
static oi_array three(double a, double b, double c)
{
    oi_array x = oi_array_new(TN_F32, 1, &(int64_t){3});
    x.v[0] = oi_float(a), x.v[1] = oi_float(b), x.v[2] = oi_float(c);
    return x;
}

static oi_error compared(oi_array got, oi_array want)
{
    oi_error e;
    oi_compare(&got, &want, "function", &e);
    return e;
}

Test(opinfo_compare, nan_fails_wherever_it_is_not_expected)
{
    cr_expect(compared(three(1, NAN, 3), three(1, 2, 3)).bad);
    cr_expect(compared(three(1, 2, 3), three(1, NAN, 3)).bad);
    cr_expect_not(compared(three(1, NAN, 3), three(1, NAN, 3)).bad);
    cr_expect(compared(three(NAN, NAN, NAN), three(1, 2, 3)).mistrusted);
}

Test(opinfo_compare, infinities_have_a_sign)
{
    cr_expect(compared(three(1, INFINITY, 3), three(1, -INFINITY, 3)).bad);
    cr_expect(compared(three(1, 3e38, 3), three(1, INFINITY, 3)).bad);
    cr_expect_not(compared(three(1, INFINITY, 3), three(1, 1e300, 3)).bad,
                  "what overflows float32 is infinite");
}

Test(opinfo_compare, the_limit_is_in_last_places)
{
    cr_expect_not(compared(three(1, 2 + 0x1p-21, 3), three(1, 2, 3)).bad);
    oi_error e = compared(three(1, 2 + 0x1p-20, 3), three(1, 2, 3));
    cr_expect(e.bad);
    cr_expect_eq(e.at, 1);
    cr_expect_eq(e.ulp, 4);
}

Test(opinfo_compare, equal_values_are_mistrusted)
{
    cr_expect(compared(three(1000, 1000, 1000), three(1, 2, 3)).mistrusted);
    cr_expect(compared(three(0, 0, 0), three(1, 2, 3)).mistrusted);
    cr_expect_not(compared(three(5, 5, 5), three(5, 5, 5)).bad);
}

Test(opinfo_compare, shape_and_dtype_come_first)
{
    oi_array flat = three(1, 2, 3), tall = three(1, 2, 3), other = three(1, 2, 3);
    tall.ndim = 2, tall.sizes[1] = 1;
    other.dtype = TN_F64;
    cr_expect(compared(tall, flat).bad);
    cr_expect(compared(other, flat).bad);
}

Test(opinfo_random, a_sample_is_its_seed)
{
    oi_rng a = oi_rng_make(1, "add", 3, 5), b = oi_rng_make(1, "add", 3, 5),
           c = oi_rng_make(1, "add", 3, 6);
    uint64_t x = oi_random(&a);
    cr_expect_eq(x, oi_random(&b));
    cr_expect_neq(x, oi_random(&c));
}
