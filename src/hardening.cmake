# Flags that turn a mistake in code which reads strangers' files into an end of the program rather than
# into somebody else's program: canaries and probes of the stack, checked calls of the C library, code
# at random addresses, tables of pointers that are read-only once the program runs, no code in data.
# What a compiler or linker does not know is left out.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

check_pie_supported(LANGUAGES C)

# A flag counts as known when it gives no warning either: clang, for one, takes what it ignores.
set(CMAKE_REQUIRED_FLAGS "-Werror")
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "LADIES_KNOWS${flag}" known)
  check_c_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options(${flag})
  endif()
endforeach()

# The C library checks what an optimised build knows of sizes, the sanitizers do it better: level 3
# where compiler and library have it, and without a word where a distribution sets a level itself.
set(CMAKE_REQUIRED_FLAGS "-Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_c_source_compiles("#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }" LADIES_KNOWS_FORTIFY_3)
set(level $<IF:$<BOOL:${LADIES_KNOWS_FORTIFY_3}>,3,2>)
add_compile_options($<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>
                    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=${level}>)
unset(CMAKE_REQUIRED_FLAGS)

foreach(option relro now noexecstack)
  check_linker_flag(C "-Wl,-z,${option}" LADIES_LINKS_${option})
  if(LADIES_LINKS_${option})
    add_link_options("-Wl,-z,${option}")
  endif()
endforeach()
