--- scripts/setup with a cmake and an apt-get that only say what they were told: which packages are
-- installed for a user, and what is shown while that and the build go on.
local lu = require "luaunit"
local files = require "tools.files"
local shell = require "tools.shell"

local tests = {}

local scripts = os.getenv "LADIES_SOURCE" .. "/scripts/"

local TOOLS = {
  ["dpkg-query"] = "[ -e installed ] && echo 'install ok installed'",
  id = "echo 0",
  ["apt-get"] = [[
echo "$@" >> apt.log
[ $1 = update ] || { echo dlstatus:1:30.5:Retrieving; echo pmstatus:gcc:60.25:Unpacking; }]],
  cmake = [[
[ $1 = --build ] || { echo "-- Configuring"; exit 0; }
echo "[ 42%] Building C object x.c.o"
[ ! -e broken ] || { echo "x.c:1: error: no such thing"; exit 1; }
echo "[100%] Linking C executable ladies"]],
}

-- A folder with the scripts and these tools, in which the files named have been made.
local function place(...)
  local folder = shell.folder()
  assert(os.execute(("mkdir %s/scripts %s/bin"):format(folder.path, folder.path)))
  for _, name in ipairs{"setup", "packages", "progress"} do
    assert(os.execute(("cp %s %s/scripts"):format(shell.quote(scripts .. name), folder.path)))
  end
  for name, text in pairs(TOOLS) do
    files.write(("%s/bin/%s"):format(folder.path, name), "#!/bin/sh\n" .. text .. "\n")
  end
  assert(os.execute(("chmod +x %s/bin/*"):format(folder.path)))
  for _, name in ipairs{...} do files.write(folder.path .. "/" .. name, "") end
  return folder
end

local function setup(folder, ...)
  return shell.run({...}, {env = {("PATH=%s/bin:%s"):format(folder.path, os.getenv "PATH")}})
end

local BUILDING = "setup: building the Release program in build, which takes some minutes "
  .. "(build/setup.log)\n"

--- A build prints one line into a pipe, and the log has all of it.
function tests.test_quiet_in_a_pipe()
  local folder <close> = place "installed"
  local out, err, status = setup(folder, folder.path .. "/scripts/setup")
  lu.assertEquals({out, err, status}, {BUILDING, "", 0})
  lu.assertEquals(files.read(folder.path .. "/build/setup.log"), "-- Configuring\n"
    .. "[ 42%] Building C object x.c.o\n[100%] Linking C executable ladies\n")
end

function tests.test_shown_on_a_terminal()
  local folder <close> = place()
  local dialogue <close> = shell.file [[
    expect system packages gcc
    expect \r\s\s30\s%
    expect \r\s\s60\s%
    expect building the Release program
    expect \r\s\s42\s%
    expect \r\s\s100\s%
    expect \r\s\s\s\s\s\s\s\s\s\s\s\s\r
    exit 0
  ]]
  shell.silent(setup(folder, shell.pty, dialogue.path, folder.path .. "/scripts/setup"))
end

function tests.test_a_build_that_fails()
  local folder <close> = place("installed", "broken")
  local out, err, status = setup(folder, folder.path .. "/scripts/setup")
  lu.assertEquals({out, status}, {BUILDING, 1})
  lu.assertStrContains(err, "x.c:1: error: no such thing\nsetup: the build failed")
end

--- Packages that only tests need are installed by scripts/test and not by scripts/setup.
function tests.test_packages()
  local folder <close> = place()
  local out, err, status = setup(folder, folder.path .. "/scripts/setup")
  lu.assertEquals({err, status}, {"", 0})
  local installed = files.read(folder.path .. "/apt.log")
  lu.assertStrContains(installed, "install")
  for _, name in ipairs{"gcc", "cmake", "liblua5.4-dev", "lua-cjson"} do
    lu.assertStrContains(installed, " " .. name .. " ")
    lu.assertStrContains(out, " " .. name .. " ")
  end
  for _, name in ipairs{"lua-unit", "lua-check", "python3-venv", "wordnet-base", "chromium"} do
    lu.assertNotStrContains(installed, name)
    lu.assertStrContains(files.read(scripts .. "test"), name)
  end
end

return tests
