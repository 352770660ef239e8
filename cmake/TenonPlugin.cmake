# tenon_add_plugin(NAME SOURCES file.. [ISA_SOURCES file..] [SCHEMA file.yaml [DERIVATIVES file.yaml]]
#     [CALLS file.yaml] [INCLUDES dir..] [LIBRARIES lib..])
#
# Builds NAME.so, a Tenon plugin: a module that links nothing of Tenon and exports one symbol, tenon_plugin.
# This file is installed: Tenon's own plugins and a third party's are built by the same lines.
#   SOURCES      .c files, and .cu files (compiled where nvcc is found, else left out and TENON_NO_CUDA defined)
#   ISA_SOURCES  .c files compiled once per instruction set of TENON_ISAS, with -DTN_ISA=baseline|avx2|avx512
#   SCHEMA       a YAML file in native_functions.yaml's form: tenon-gen makes NAME_ops.h and NAME_ops.c of it, which
#                are on the include path and compiled in, and NAME_calls.h, for programs: a program that links the
#                target NAME_calls finds it, and it is installed beside Tenon's headers
#   DERIVATIVES  a YAML file in derivatives.yaml's form: the gradients of operators of SCHEMA. An operator with an
#                expression has one without
#   CALLS        a YAML file of the operators that kernels call: tenon-gen makes NAME_work.h and NAME_work.c of it
#   INCLUDES     further include directories
#   LIBRARIES    further libraries to link
# It stands on the target tenon::plugin (headers), and on TENON_GEN, TENON_TEMPLATES and TENON_EXPORT_MAP.

if(NOT DEFINED TENON_ISAS)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
        set(TENON_ISAS baseline avx2 avx512)
    else()
        set(TENON_ISAS baseline)
    endif()
endif()
foreach(isa ${TENON_ISAS})
    if(NOT isa MATCHES "^(baseline|avx2|avx512)$")
        message(FATAL_ERROR "TENON_ISAS: '${isa}' is no instruction set; write some of baseline;avx2;avx512")
    endif()
endforeach()
if(NOT baseline IN_LIST TENON_ISAS) # what runs where the machine has none of the others
    list(PREPEND TENON_ISAS baseline)
endif()
set(TENON_ISA_FLAGS_baseline "")
set(TENON_ISA_FLAGS_avx2 -march=x86-64-v3)
set(TENON_ISA_FLAGS_avx512 -march=x86-64-v4)
# IEEE results, element by element, but no errno and no traps: what lets a compiler vectorise without changing a
# number. Debug builds keep their own level. clang reports every loop marked as independent that it leaves scalar.
set(TENON_KERNEL_FLAGS -fno-math-errno -fno-trapping-math -ffp-contract=off -fwrapv
    $<$<NOT:$<CONFIG:Debug>>:-O3> $<$<C_COMPILER_ID:Clang,AppleClang>:-Wno-pass-failed>)

find_program(TENON_NVCC nvcc PATHS /usr/local/cuda/bin $ENV{CUDA_HOME}/bin)
set(TENON_CUDA_CODE
    -gencode arch=compute_75,code=sm_75
    -gencode arch=compute_90,code=[sm_90,compute_90])

# Objects of `sources`, compiled for one instruction set, added to the plugin `name`.
function(tenon__add_isa name isa)
    set(lib ${name}_${isa})
    add_library(${lib} OBJECT ${ARGN})
    set_target_properties(${lib} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_compile_definitions(${lib} PRIVATE TN_ISA=${isa} TN_ISA_${isa}=1)
    target_compile_options(${lib} PRIVATE ${TENON_KERNEL_FLAGS} ${TENON_ISA_FLAGS_${isa}})
    target_link_libraries(${lib} PRIVATE tenon::plugin)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${lib}>)
    target_compile_definitions(${name} PRIVATE TN_HAVE_ISA_${isa}=1)
endfunction()

# nvcc as a custom command: the plugin's project need not enable CUDA as a language, and a machine without nvcc
# still configures.
function(tenon__add_cuda name)
    if(NOT TENON_NVCC OR "${TENON_CUDA}" STREQUAL "OFF")
        target_compile_definitions(${name} PRIVATE TENON_NO_CUDA=1)
        return()
    endif()
    get_filename_component(bin ${TENON_NVCC} REALPATH)
    get_filename_component(bin ${bin} DIRECTORY)
    get_filename_component(home ${bin} DIRECTORY)
    find_library(TENON_CUDART cudart HINTS ${home}/lib64 ${home}/targets/x86_64-linux/lib)
    set(includes $<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>)
    get_target_property(generated ${name} TENON_GENERATED)
    if(NOT generated)
        set(generated)
    endif()
    foreach(source ${ARGN})
        get_filename_component(source ${source} ABSOLUTE)
        get_filename_component(stem ${source} NAME)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${stem}.o)
        get_property(pools GLOBAL PROPERTY JOB_POOLS)
        set(pool)
        if(pools MATCHES tenon_cuda)
            set(pool JOB_POOL tenon_cuda)
        endif()
        add_custom_command(OUTPUT ${object}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir
            COMMAND ${TENON_NVCC} -c ${source} -o ${object} -MD -MF ${object}.d -O3 --fmad=false
                ${TENON_CUDA_CODE} -std=c++17 -lineinfo "-I$<JOIN:${includes},;-I>"
                -Xcompiler -iquote,${CMAKE_CURRENT_SOURCE_DIR}
                -Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
                -Xcompiler -Wall,-Wextra,-fno-asynchronous-unwind-tables
            DEPENDS ${source} ${generated} ${TENON_PLUGIN_DEPENDS} DEPFILE ${object}.d ${pool}
            COMMENT "nvcc ${stem}" COMMAND_EXPAND_LISTS VERBATIM)
        target_sources(${name} PRIVATE ${object})
        set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    endforeach()
    target_include_directories(${name} SYSTEM PRIVATE ${home}/include)
    target_link_libraries(${name} PRIVATE ${TENON_CUDART})
    # The same path in the build tree: CMake would pad its own with an empty entry, which is the current directory.
    get_filename_component(home ${TENON_CUDART} DIRECTORY)
    set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH ${home})
endfunction()

# What tenon-gen makes of a plugin's YAML files, each of which may be "": NAME_ops.h, NAME_ops.c, NAME_calls.h of its own
# operators and their derivatives; NAME_work.h, NAME_work.c of those that its kernels call.
function(tenon__generate name schema derivatives calls)
    set(dir ${CMAKE_CURRENT_BINARY_DIR}/${name}.gen)
    set(options)
    set(inputs)
    foreach(option schema derivatives calls)
        if(${option})
            get_filename_component(file ${${option}} ABSOLUTE)
            list(APPEND options --${option} ${file})
            list(APPEND inputs ${file})
        endif()
    endforeach()
    set(sources)
    set(headers)
    if(schema)
        list(APPEND sources ${dir}/${name}_ops.c)
        list(APPEND headers ${dir}/${name}_ops.h ${dir}/${name}_calls.h)
    endif()
    if(calls)
        list(APPEND sources ${dir}/${name}_work.c)
        list(APPEND headers ${dir}/${name}_work.h)
    endif()
    file(GLOB templates CONFIGURE_DEPENDS ${TENON_TEMPLATES}/*.m4)
    add_custom_command(OUTPUT ${dir}/stamp BYPRODUCTS ${sources} ${headers}
        COMMAND ${TENON_GEN} ${options} --plugin ${name} --templates ${TENON_TEMPLATES} --out ${dir}
        COMMAND ${CMAKE_COMMAND} -E touch ${dir}/stamp
        DEPENDS ${inputs} ${TENON_GEN} ${templates} ${TENON_PLUGIN_DEPENDS}
        COMMENT "tenon-gen ${name}" VERBATIM)
    add_custom_target(${name}_generated DEPENDS ${dir}/stamp)
    add_dependencies(${name} ${name}_generated)
    target_sources(${name} PRIVATE ${sources})
    set_source_files_properties(${sources} PROPERTIES GENERATED ON)
    target_include_directories(${name} PRIVATE ${dir})
    set_target_properties(${name} PROPERTIES TENON_GENERATED ${dir}/stamp)
    if(schema)
        add_library(${name}_calls INTERFACE)
        add_dependencies(${name}_calls ${name}_generated)
        target_include_directories(${name}_calls INTERFACE ${dir})
        target_link_libraries(${name}_calls INTERFACE tenon::tenon)
        install(FILES ${dir}/${name}_calls.h DESTINATION ${TENON_INCLUDE_DIR})
    endif()
endfunction()

function(tenon_add_plugin name)
    cmake_parse_arguments(arg "" "SCHEMA;DERIVATIVES;CALLS" "SOURCES;ISA_SOURCES;INCLUDES;LIBRARIES" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "tenon_add_plugin(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}; "
            "write SOURCES, ISA_SOURCES, SCHEMA, DERIVATIVES, CALLS, INCLUDES or LIBRARIES before it")
    endif()
    if(arg_DERIVATIVES AND NOT arg_SCHEMA)
        message(FATAL_ERROR "tenon_add_plugin(${name}): DERIVATIVES without SCHEMA; name the YAML file of the operators")
    endif()
    set(c_sources ${arg_SOURCES})
    list(FILTER c_sources EXCLUDE REGEX "\\.cu$")
    set(cu_sources ${arg_SOURCES})
    list(FILTER cu_sources INCLUDE REGEX "\\.cu$")

    add_library(${name} MODULE ${c_sources})
    set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" C_VISIBILITY_PRESET hidden
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_link_libraries(${name} PRIVATE tenon::plugin ${arg_LIBRARIES} m) # m: kernels of expressions
    target_include_directories(${name} PRIVATE ${arg_INCLUDES})
    target_compile_options(${name} PRIVATE ${TENON_KERNEL_FLAGS})
    if(APPLE)
        target_link_options(${name} PRIVATE -Wl,-exported_symbol,_tenon_plugin)
    else()
        target_link_options(${name} PRIVATE -Wl,--version-script=${TENON_EXPORT_MAP} -Wl,--as-needed)
        set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${TENON_EXPORT_MAP})
        if(NOT TENON_SANITIZE)
            target_link_options(${name} PRIVATE -Wl,-z,defs)
        endif()
    endif()
    if(arg_SCHEMA OR arg_CALLS)
        tenon__generate(${name} "${arg_SCHEMA}" "${arg_DERIVATIVES}" "${arg_CALLS}")
    endif()
    if(arg_ISA_SOURCES)
        foreach(isa ${TENON_ISAS})
            tenon__add_isa(${name} ${isa} ${arg_ISA_SOURCES})
            target_include_directories(${name}_${isa} PRIVATE ${arg_INCLUDES})
        endforeach()
    endif()
    if(cu_sources)
        tenon__add_cuda(${name} ${cu_sources})
    endif()
endfunction()
