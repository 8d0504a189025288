# What `cmake --install build --prefix DIR` puts below DIR (src/core has the C library), and the
# packages that `cmake --build build --target package` and `package_source` make of it.
# The component "tree" is what a single program carries; "experiments", which it carries too, may be
# left out: `ladies table3` and the like then say so.
install(DIRECTORY lua/ladies DESTINATION share/lua/5.4 COMPONENT tree)
install(DIRECTORY lua/experiments DESTINATION share/lua/5.4 COMPONENT experiments)
install(DIRECTORY scripts DESTINATION share/ladies COMPONENT tree
  FILES_MATCHING PATTERN "*.lua" PATTERN "*.py")
install(DIRECTORY datasets DESTINATION share/ladies COMPONENT tree)
if(LADIES_SINGLE)
  install(TARGETS ladies RUNTIME DESTINATION bin)
  return()
endif()

install(TARGETS ladies RUNTIME DESTINATION bin)
install(TARGETS ladies_core LIBRARY DESTINATION lib/lua/5.4)
if(TARGET ladies_ranks)
  install(TARGETS ladies_ranks LIBRARY DESTINATION lib/ladies)
endif()
install(DIRECTORY doc DESTINATION share/ladies)
install(FILES README.md DESTINATION share/doc/ladies)
install(FILES LICENSE DESTINATION share/doc/ladies RENAME copyright)

# The man page and the completions are what the program says of its commands.
install(CODE "set(LADIES_PROGRAM ${CMAKE_CROSSCOMPILING_EMULATOR} \"$<TARGET_FILE:ladies>\")")
install(SCRIPT src/install_pages.cmake)

set(CPACK_PACKAGE_CONTACT "The ladies authors <ladies@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Trains deep graph convolutional networks with sampled mini-batches: layer-dependent
importance sampling (LADIES) and the methods around it. A program with commands and a
prompt, a module for lua5.4 and a C library.")
# Shared libraries are found by what is linked; what Lua loads when it is used is not.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS lua-cjson)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "curl, librsvg2-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "lua5.4, python3-ipykernel, python3-pip, libopenblas-dev")

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME ladies-${PROJECT_VERSION})
set(CPACK_SOURCE_IGNORE_FILES "/\\\\.git/" "/\\\\.git$" "/build[^/]*/" "/runs/" "/\\\\.ci/")
include(CPack)
