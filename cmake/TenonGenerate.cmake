# Runs tenon-gen on the operators and names what it writes.
#
# What the generator writes must be known before it is built, so its file names are fixed and stand here too (the
# table in codegen/outputs.c has them first); a new output of the generator is added to one of these lists. The pages of
# docs/ops are not named: nothing is built from them.
set(TENON_GENERATED ${CMAKE_BINARY_DIR}/generated)
set(TENON_GENERATED_HEADERS include/tenon/frames.h include/tenon/ops.h include/tenon/math.h)
set(TENON_GENERATED_CORE core/ops.c core/calls.c core/shapes.c)
set(TENON_GENERATED_CPU cpu/pointwise.c cpu/vector_math.c)
set(TENON_GENERATED_CPU_ISA bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128) # compiled once per instruction set
list(TRANSFORM TENON_GENERATED_CPU_ISA REPLACE "(.+)" "cpu/loops_\\1.c")
set(TENON_GENERATED_META meta/structured.c)
set(TENON_GENERATED_CUDA bool u8 i8 i16 i32 i64 f32 f64 c64 c128) # float kernels serve f16 and bf16
list(TRANSFORM TENON_GENERATED_CUDA REPLACE "(.+)" "cuda/pointwise_\\1.cu")
list(APPEND TENON_GENERATED_CUDA cuda/pointwise.c)
set(TENON_GENERATED_OTHER core/shape/rules.h cpu/pointwise_loops.h cpu/vector_math.h autograd/derivatives.h)
set(TENON_GENERATED_AUTOGRAD autograd/derivatives.c)
set(generated)
foreach(list HEADERS CORE CPU CPU_ISA META CUDA AUTOGRAD OTHER)
    list(TRANSFORM TENON_GENERATED_${list} PREPEND ${TENON_GENERATED}/)
    list(APPEND generated ${TENON_GENERATED_${list}})
endforeach()

set(TENON_YAML ${CMAKE_SOURCE_DIR}/native_functions.yaml)
set(TENON_DERIVATIVES ${CMAKE_SOURCE_DIR}/derivatives.yaml)
set(TENON_TEMPLATES ${CMAKE_SOURCE_DIR}/codegen/templates)
file(GLOB templates CONFIGURE_DEPENDS ${TENON_TEMPLATES}/*.m4)
set(command tenon-gen --schema ${TENON_YAML} --derivatives ${TENON_DERIVATIVES} --templates ${TENON_TEMPLATES}
    --out ${TENON_GENERATED})
# Beside the program as in the installed tree: what a plugin's formulas may call.
configure_file(${TENON_YAML} ${CMAKE_BINARY_DIR}/share/tenon/native_functions.yaml COPYONLY)

# tenon-gen leaves files alone that would not change, so what does not depend on a change is not built again; the
# stamp tells the build tool that it ran.
set(TENON_GENERATED_STAMP ${TENON_GENERATED}/stamp)
add_custom_command(OUTPUT ${TENON_GENERATED_STAMP} BYPRODUCTS ${generated}
    COMMAND ${command}
    COMMAND ${CMAKE_COMMAND} -E touch ${TENON_GENERATED_STAMP}
    DEPENDS tenon-gen ${TENON_YAML} ${TENON_DERIVATIVES} ${templates}
    COMMENT "tenon-gen native_functions.yaml derivatives.yaml" VERBATIM)
add_custom_target(tenon_generated DEPENDS ${TENON_GENERATED_STAMP})
# Says what differs between what is there and what would be written: nothing, right after a build.
add_custom_target(tenon_gen_check COMMAND ${command} --check DEPENDS ${TENON_GENERATED_STAMP} VERBATIM)

# The headers as they are installed, in one place: plugins are built against this directory and nothing else.
set(TENON_STAGE_INCLUDE ${CMAKE_BINARY_DIR}/stage-include)
file(GLOB public_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/tenon/*.h)
list(APPEND public_headers ${TENON_BORDER_HEADER} ${TENON_GENERATED_HEADERS})
set(TENON_STAGED_HEADERS)
foreach(header ${public_headers})
    get_filename_component(name ${header} NAME)
    list(APPEND TENON_STAGED_HEADERS ${TENON_STAGE_INCLUDE}/tenon/${name})
endforeach()
add_custom_command(OUTPUT ${TENON_STAGED_HEADERS}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${TENON_STAGE_INCLUDE}/tenon
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${public_headers} ${TENON_STAGE_INCLUDE}/tenon
    DEPENDS ${public_headers} ${TENON_GENERATED_STAMP}
    COMMENT "Staging the public headers" VERBATIM)
add_custom_target(tenon_staged_headers DEPENDS ${TENON_STAGED_HEADERS})
