-- For LuaRocks: `luarocks --lua-version 5.4 make scripts/luarocks/ladies-0.1.0-1.rockspec`, in the
-- root of the sources, builds and installs the module for lua5.4, with its data (doc/install.md).
rockspec_format = "3.0"
package = "ladies"
version = "0.1.0-1"
source = {url = "file://ladies-0.1.0.tar.gz", dir = "ladies-0.1.0"}
description = {
  summary = "Deep graph convolutional networks on large graphs, trained by sampling",
  detailed = [[
    Layer-dependent importance sampling (LADIES, NeurIPS 2019) and the methods around it, for Lua:
    sparse matrices, samplers, networks, exact inference and a laboratory for samplers.]],
  license = "MIT",
  labels = {"graph", "neural-network"},
}
dependencies = {"lua ~> 5.4", "lua-cjson"}
build = {
  type = "cmake",
  variables = {
    CMAKE_BUILD_TYPE = "Release",
    LADIES_ROCK_LUA = "$(LUADIR)",
    LADIES_ROCK_LIB = "$(LIBDIR)",
  },
}
