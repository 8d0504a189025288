# Run when the program is installed: writes what it says of its commands to where shells and man look,
# what it says of the library for editors, and of which commit it is.
function(install_page path)
  set(file "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${path}")
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  message(STATUS "Installing: ${file}")
  execute_process(COMMAND ${LADIES_PROGRAM} ${ARGN} OUTPUT_FILE "${file}" COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${file}")
  set(CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_MANIFEST_FILES}" PARENT_SCOPE)
endfunction()

# Debian's zsh looks for what packages bring in a folder of its own.
set(zsh_folder share/zsh/site-functions)
if(CMAKE_INSTALL_PREFIX MATCHES "/usr$" AND EXISTS /etc/debian_version)
  set(zsh_folder share/zsh/vendor-completions)
endif()
install_page(share/man/man1/ladies.1 man)
install_page(share/bash-completion/completions/ladies completion bash)
install_page(${zsh_folder}/_ladies completion zsh)
install_page(share/fish/vendor_completions.d/ladies.fish completion fish)
install_page(share/ladies/library/ladies.d.lua reference --annotations)
# The commit of this checkout, which results name.
install_page(share/ladies/commit -e "io.write(require 'ladies.base.commit'() or '')")
