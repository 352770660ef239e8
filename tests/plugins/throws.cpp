// throws.cpp - a plugin in C++ whose init throws (with EXIT: whose exit does; with KERNEL: whose kernel
// of plgtest::scale does; with CONSTRUCTOR: whose static object does, inside dlopen), through a frame of its own with a destructor, which counts itself in
// TENON_TEST_DESTROYED.
#include <tenon/plugin.h>

#include <cstdlib>
#include <stdexcept>

namespace
{
struct local {
    ~local()
    {
        setenv("TENON_TEST_DESTROYED", "1", 1);
    }
};

void raise()
{
    local l;
    throw std::runtime_error("no operators today");
}

#ifdef CONSTRUCTOR
struct thrower {
    thrower()
    {
        raise();
    }
} static_thrower;
#endif

const tn_op_decl op = {"plgthrows::f(Tensor x) -> Tensor", NULL, NULL, NULL, 0, 0, NULL};

#ifdef KERNEL
tn_status throws(tn_call *, void *)
{
    raise();
    return TN_OK;
}
#endif

tn_status start(tn_registry *r)
{
    TN_TRY(tn->register_ops(r, &op, 1));
#if defined(KERNEL)
    static const tn_kernel_decl kernel = {
        "plgtest::scale(Tensor x, float s) -> Tensor", "CPU", throws, NULL, 0, 1, 0, 0, NULL, 0, 0};
    return tn->register_kernels(r, &kernel, 1);
#elif !defined(EXIT) && !defined(CONSTRUCTOR)
    raise();
#endif
    return TN_OK;
}

void stop()
{
#ifdef EXIT
    raise();
#endif
}
} // namespace

TN_PLUGIN("throws", "1.0", start, stop);
