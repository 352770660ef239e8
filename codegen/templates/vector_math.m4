m4_dnl vector_math.m4 - included by what writes vector_math.{h,c}: the functions of libm that SLEEF has for several elements.
m4_dnl cg_vector_functions expands cg_function for each:
m4_dnl   1 name 2 SLEEF's name for its error bound, in tenths of a ULP 3 arguments
m4_dnl   4, 5 magnitude up to which SLEEF is right, in float and in double; empty: everywhere
m4_define(@{cg_vector_functions@}, @{m4_dnl
cg_function(exp, u10, 1)m4_dnl
cg_function(exp2, u10, 1)m4_dnl
cg_function(expm1, u10, 1)m4_dnl
cg_function(log, u10, 1)m4_dnl
cg_function(log2, u10, 1)m4_dnl
cg_function(log10, u10, 1)m4_dnl
cg_function(log1p, u10, 1, 1e37f, 1e306)m4_dnl
cg_function(sin, u10, 1)m4_dnl
cg_function(cos, u10, 1)m4_dnl
cg_function(tan, u10, 1)m4_dnl
cg_function(asin, u10, 1)m4_dnl
cg_function(acos, u10, 1)m4_dnl
cg_function(atan, u10, 1)m4_dnl
cg_function(sinh, u10, 1, 88.f, 709.)m4_dnl
cg_function(cosh, u10, 1, 88.f, 709.)m4_dnl
cg_function(tanh, u10, 1)m4_dnl
cg_function(asinh, u10, 1, 1e19f, 1e154)m4_dnl
cg_function(acosh, u10, 1, 1e19f, 1e154)m4_dnl
cg_function(atanh, u10, 1)m4_dnl
cg_function(erf, u10, 1)m4_dnl
cg_function(erfc, u15, 1)m4_dnl
cg_function(pow, u10, 2)m4_dnl
cg_function(atan2, u10, 2)m4_dnl
cg_function(hypot, u05, 2)m4_dnl
@})m4_dnl
