# Options and the flags that every target of this tree is compiled with.
option(TENON_TESTS "Build the tests (needs Criterion)" ON)
option(TENON_WERROR "Treat warnings as errors" OFF)
set(TENON_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined or thread")
set(TENON_CUDA AUTO CACHE STRING "Build the CUDA plugin: AUTO (when nvcc is found), ON, OFF")
set(TENON_ISAS "baseline;avx2;avx512" CACHE STRING "Instruction sets that CPU kernels are compiled for; baseline always")
set(TENON_MAX_CUDA_JOBS 2 CACHE STRING "nvcc processes at a time: each takes about 1 GB")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Debug is what one works with: quick to build, asserts on, still debuggable.
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()

find_program(TENON_CCACHE ccache)
if(TENON_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${TENON_CCACHE})
endif()

# The C library's GNU calls; spelled so that a file which asks for them itself says the same.
add_compile_definitions(_GNU_SOURCE=)

# Numbers must not depend on whether the compiler contracts a*b+c, nor on what overflow of a signed integer means.
add_compile_options(-Wall -Wextra -Wpedantic -ffp-contract=off -fwrapv)
if(TENON_WERROR)
    add_compile_options(-Werror)
endif()
if(TENON_SANITIZE)
    add_compile_options(-fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${TENON_SANITIZE})
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(TENON_ISAS baseline)
endif()
set_property(GLOBAL PROPERTY JOB_POOLS tenon_cuda=${TENON_MAX_CUDA_JOBS})
