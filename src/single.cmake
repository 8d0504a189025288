# LADIES_SINGLE: the program alone, with lua/, scripts/ and the data set that ships in it, and with all
# libraries linked in but those of the C library. It runs wherever it is copied to.
pkg_search_module(CJSON REQUIRED lua5.4-cjson)
find_library(CJSON_LIBRARY lua5.4-cjson REQUIRED HINTS ${CJSON_LIBRARY_DIRS})
target_link_libraries(PkgConfig::LUA INTERFACE m)    # what liblua.a needs

# What is installed for the Lua side, as an archive. Its CRC tells programs apart: no times in it.
set(tree ${CMAKE_BINARY_DIR}/tree)
file(GLOB_RECURSE TREE_FILES CONFIGURE_DEPENDS lua/*.lua scripts/*.lua scripts/*.py datasets/*)
add_custom_command(OUTPUT ${tree}.tar.gz
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${tree}
  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --component tree --prefix ${tree}
  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --component experiments --prefix ${tree}
  COMMAND ${CMAKE_COMMAND} -E chdir ${tree}
          ${CMAKE_COMMAND} -E tar czf ${tree}.tar.gz --format=gnutar --mtime=2000-01-01 share
  DEPENDS ${TREE_FILES} ${PROJECT_SOURCE_DIR}/src/package.cmake VERBATIM)
set_source_files_properties(src/host/embedded.c PROPERTIES
  OBJECT_DEPENDS ${tree}.tar.gz COMPILE_DEFINITIONS LADIES_TREE="${tree}.tar.gz")
target_include_directories(ladies PRIVATE ${CJSON_INCLUDE_DIRS})
target_link_libraries(ladies PRIVATE ${CJSON_LIBRARY})
target_link_options(ladies PRIVATE -static-libgcc)
if(EDITLINE_FOUND)                                   # what libedit.a needs
  foreach(name tinfo bsd md)
    find_library(${name}_LIBRARY ${name})
    if(${name}_LIBRARY)
      target_link_libraries(PkgConfig::EDITLINE INTERFACE ${${name}_LIBRARY})
    endif()
  endforeach()
endif()
