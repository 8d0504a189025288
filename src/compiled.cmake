# The Lua files of the program, compiled for it to load them faster (src/host/compiled/compiled.h).
add_executable(compile_lua src/host/compiled/compile.c)
target_include_directories(compile_lua PRIVATE src/core)
target_link_libraries(compile_lua PRIVATE PkgConfig::LUA)

file(GLOB_RECURSE LUA_FILES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/lua lua/*.lua)
list(TRANSFORM LUA_FILES PREPEND ${PROJECT_SOURCE_DIR}/lua/ OUTPUT_VARIABLE LUA_PATHS)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/ladies)
set(compiled ${CMAKE_BINARY_DIR}/share/ladies/modules.luac)
add_custom_command(OUTPUT ${compiled}
  COMMAND compile_lua ${compiled} ${PROJECT_SOURCE_DIR}/lua ${LUA_FILES}
  DEPENDS ${LUA_PATHS} VERBATIM)
add_custom_target(compiled ALL DEPENDS ${compiled})
install(FILES ${compiled} DESTINATION share/ladies COMPONENT tree)
