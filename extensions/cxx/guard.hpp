/* guard.hpp - what keeps C++ inside a C++ plugin: nothing leaves it but a status, and a tensor is
 * released on every way out, thrown ones included. */
#ifndef CXX_GUARD_HPP
#define CXX_GUARD_HPP

#include <exception>
#include <memory>
#include <new>

#include <tenon/plugin.h>

struct release_tensor {
    void operator()(tn_tensor *t) const
    {
        tn->tensor_release(t);
    }
};
using tensor = std::unique_ptr<tn_tensor, release_tensor>;

/* A failure that has been reported to the core already. */
struct failure {
    tn_status status;
};
inline void must(tn_status status)
{
    if (status != TN_OK)
        throw failure{status};
}

/* A kernel that throws, as one that returns a status: TN_KERNEL(op, "CPU", (guarded<args,
 * kernel>)). */
template <typename Args, void (*kernel)(tn_call *, Args *)>
tn_status guarded(tn_call *call, Args *args) noexcept
{
    try {
        kernel(call, args);
        return TN_OK;
    } catch (const failure &f) {
        return f.status;
    } catch (const std::bad_alloc &) {
        return tn->fail(call, TN_ERR_MEMORY, "out of memory");
    } catch (const std::exception &e) {
        return tn->fail(call, TN_ERR_ARGUMENT, "%s", e.what());
    } catch (...) {
        return tn->fail(call, TN_ERR_ARGUMENT, "an exception of unknown type");
    }
}

#endif
