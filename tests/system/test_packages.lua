--- The packages that CPack makes: the .deb unpacked somewhere, and the archive of the sources.

local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local files = require "tools.files"
local shell = require "tools.shell"

local build = shell.ladies:match "^(.*)/bin/[^/]*$"
local source = os.getenv "LADIES_SOURCE"
local release = os.getenv "LADIES_BUILD_TYPE" == "Release"

local tests = {}
local run = shell.must
local scratch = shell.folder()
local root = scratch.path .. "/root"

-- Makes the .deb, once. It is not packed tightly, and does not look up the packages of shared
-- libraries: neither is tested, and both take long.
local function deb()
  if not core.process.exists "dpkg-deb" then lu.skip "there is no dpkg-deb" end
  local path = ("%s/ladies_%s_%s.deb"):format(scratch.path, ladies.version,
    run{"dpkg", "--print-architecture"}:match "%S+")
  if core.exists(path) then return path end
  run({"cpack", "-G", "DEB", "-B", scratch.path, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", "-D",
    "CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF"}, {folder = build})
  run{"dpkg-deb", "-x", path, root}
  return path
end

function tests.test_deb_says_what_it_needs()
  if not release then lu.success() end
  local fields = run{"dpkg-deb", "-f", deb()}
  lu.assertStrContains(fields, "Version: " .. ladies.version .. "\n")
  lu.assertStrContains(fields, "Depends: lua-cjson")
end

function tests.test_deb_has_what_is_installed()
  if not release then lu.success() end
  deb()
  for _, path in ipairs{"bin/ladies", "lib/lua/5.4/ladies_core.so", "lib/libladies.so",
    "include/ladies/ladies.h", "lib/pkgconfig/ladies.pc", "share/lua/5.4/ladies/init.lua",
    "share/ladies/datasets/wordnet.npz", "share/ladies/doc/c.md", "share/doc/ladies/copyright",
    "share/bash-completion/completions/ladies", "share/zsh/vendor-completions/_ladies",
    "share/fish/vendor_completions.d/ladies.fish"} do
    lu.assertEquals(core.exists(root .. "/usr/" .. path), "file", path)
  end
  lu.assertStrContains(files.read(root .. "/usr/share/man/man1/ladies.1"), "ladies train")
  local function ladies_of_deb(...)
    return run({"env", "-i", "PATH=/usr/bin:/bin", root .. "/usr/bin/ladies", ...}, {folder = "/"})
  end
  lu.assertStrContains(ladies_of_deb "help", "train")
  lu.assertStrContains(ladies_of_deb("-e", 'print(ladies.data.load "wordnet")'), "117,659")
  lu.assertEquals(ladies_of_deb("-e", "print(ladies.home())"), root .. "/usr/share/ladies\n")
end

--- The sources that are packed are those that a build needs, and nothing that it leaves.
function tests.test_source_archive()
  if not release then lu.success() end
  local name = "ladies-" .. ladies.version
  run({"cpack", "--config", "CPackSourceConfig.cmake", "-B", scratch.path}, {folder = build})
  run{"tar", "-xzf", ("%s/%s.tar.gz"):format(scratch.path, name), "-C", scratch.path}
  local folder = scratch.path .. "/" .. name
  lu.assertEquals(core.files(folder), {"CMakeLists.txt", "LICENSE", "README.md", "datasets", "doc",
    "lua", "scripts", "src", "tests"})
  lu.assertEquals(run({"find", ".", "-name", "*.o", "-o", "-name", "*.npz", "-size", "+9M"},
    {folder = folder}), "")
  lu.assertEquals(files.read(folder .. "/src/core/ladies.h"),
    files.read(source .. "/src/core/ladies.h"))
  run{"cmake", "-S", folder, "-B", folder .. "/build"}
end

--- The rockspec names this version, the archive of its sources, and what CMake installs for it.
function tests.test_rockspec()
  local name = ("ladies-%s-1.rockspec"):format(ladies.version)
  local folder, spec = source .. "/scripts/luarocks/", {}
  lu.assertEquals(core.files(folder), {name})
  assert(loadfile(folder .. name, "t", spec))()
  lu.assertEquals({spec.package, spec.version}, {"ladies", ladies.version .. "-1"})
  lu.assertEquals({spec.source.url, spec.source.dir},
    {("file://ladies-%s.tar.gz"):format(ladies.version), "ladies-" .. ladies.version})
  lu.assertEquals({spec.build.type, spec.dependencies}, {"cmake", {"lua ~> 5.4", "lua-cjson"}})
  for variable, value in pairs{LADIES_ROCK_LUA = "$(LUADIR)", LADIES_ROCK_LIB = "$(LIBDIR)"} do
    lu.assertEquals(spec.build.variables[variable], value)
    lu.assertStrContains(files.read(source .. "/src/rock.cmake"), ("${%s}"):format(variable))
  end
  lu.assertStrContains(files.read(source .. "/doc/install.md"), "scripts/luarocks/" .. name)
  if core.process.exists "luarocks" then run{"luarocks", "lint", folder .. name} end
end

--- A stock lua5.4 needs nothing but the files that CMake installs for the rock, with the module of
-- this build.
function tests.test_what_a_rock_holds()
  if not release or not core.process.exists "lua5.4" then lu.success() end
  local rock = scratch.path .. "/rock"
  run{"cmake", "-S", source, "-B", rock .. "/build", "-DCMAKE_BUILD_TYPE=Release",
    ("-DLADIES_ROCK_LUA=%s/lua"):format(rock), ("-DLADIES_ROCK_LIB=%s/lib"):format(rock)}
  core.folder.make(rock .. "/build/lib/lua/5.4")
  run{"cp", build .. "/lib/lua/5.4/ladies_core.so", rock .. "/build/lib/lua/5.4/"}
  run{"cmake", "--install", rock .. "/build"}
  local out = run({"env", ("LUA_PATH=%s/lua/?.lua;%s/lua/?/init.lua;;"):format(rock, rock),
    ("LUA_CPATH=%s/lib/?.so;;"):format(rock), "lua5.4", "-e", [[
      local ladies = require "ladies"
      print(ladies.home(), #ladies.data.load("wordnet").labels, require("experiments.paper").table3)
      print(io.open(ladies.home() .. "/scripts/templates/model.lua") ~= nil)]]}, {folder = "/"})
  lu.assertStrMatches(out, rock:gsub("%p", "%%%0")
    .. "/lua/ladies_home\t117659\tfunction: [^\n]*\ntrue\n")
end

--- The version is written in one place, and what tells users of it agrees.
function tests.test_version_everywhere()
  local version = ladies.version
  lu.assertStrContains(files.read(source .. "/doc/CITATION.cff"), "\nversion: " .. version .. "\n")
  lu.assertEquals(files.read(source .. "/doc/CHANGELOG.md"):match "\n## (%d%S*)", version)
  lu.assertStrMatches(version, "%d+%.%d+%.%d+")
end

return tests, function() local _ <close> = scratch end
