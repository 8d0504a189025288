--- Copies of the source tree with a build folder each, where mutants may live and tests may run
-- without harm to anything else: what runs there sees all other files as read-only, has a /tmp of
-- its own, limits on memory and on the size of files, and leaves no process behind.
local cjson = require "cjson"
local core = require "ladies_core"
local shell = require "tools.shell"

local tree = {}
tree.__index = tree

local MOST_KIB = 12 << 20 -- of memory and of a file: tests map one of 8 GiB, most of it a hole
local SLACK = 6          -- seconds by the clock for one of a processor
local CANNOT = 125       -- status where the kernel has no namespaces for us

-- $1 the folder that may be written to, $2 the one to be in, $3 the seconds of a processor that a
-- process may take, $4 those by the clock, then the command. The shell stays, to take in orphans.
local ENCLOSED = [[
unshare --user --map-root-user --mount --pid --fork --kill-child --mount-proc sh -c '
  mount --bind "$1" "$1" && mount --bind "$1/tmp" /tmp && mount -o remount,bind,ro / || exit %d
  cd "$2" && ulimit -t "$3" && ulimit -v %d && ulimit -f %d && limit=$4 && shift 4 || exit %d
  timeout --signal KILL "$limit" "$@"
  exit $?' mutants]]
ENCLOSED = ENCLOSED:format(CANNOT, MOST_KIB, 2 * MOST_KIB, CANNOT) -- files by blocks of 512

-- Runs a command of the shell; raises an error with what it printed when it fails.
local function must(command, ...)
  local words = {}
  for i, word in ipairs{...} do words[i] = shell.quote(word) end
  local out, err, status = shell.run{"sh", "-c", command:format(table.unpack(words))}
  if status ~= 0 then error(("%s\n%s%s"):format(command, out:sub(-4000), err:sub(-4000)), 0) end
  return out
end

--- The files of the repository `root` that are tracked, or new and not ignored.
local FILES = "cd %s && git ls-files -z --cached --others --exclude-standard --deduplicate"

--- A hash of those files.
function tree.key(root)
  local out = must(FILES .. " | xargs -0 sha1sum 2>/dev/null | sha1sum", root)
  return out:sub(1, 12)
end

--- A copy of the repository `root` in `folder`, built as `type` in what is there of an earlier one.
-- All of its files are new by their dates: what was built last may have held a mutant. No folder in
-- /tmp will do, since the /tmp of what runs there hides it.
function tree.new(root, folder, type)
  if core.real_path("."):find "^/tmp/" or folder:find "^/tmp/" then
    error(("mutants: %s is in /tmp, which enclosed tests do not see; use a clone elsewhere"):format(
      folder), 0)
  end
  must("mkdir -p %s/build && rm -rf %s/tree %s/tmp && mkdir %s/tree %s/tmp",
    folder, folder, folder, folder, folder)
  must(FILES .. " | xargs -0 ls -d 2>/dev/null | tar -cf - -T - | tar -xmf - -C %s/tree", root,
    folder)
  local self = setmetatable({folder = folder, root = folder .. "/tree", build = folder .. "/build"},
    tree)
  must("cmake -S %s -B %s -DCMAKE_BUILD_TYPE=%s -DCMAKE_C_FLAGS_MUTANT=-O2", self.root, self.build,
    type)
  must("cmake --build %s --parallel $(nproc)", self.build)
  return self
end

--- Builds; false when that fails. `target` may name what alone is wanted.
function tree:make(target)
  return (os.execute(("cmake --build %s --target %s >%s/make.log 2>&1"):format(
    shell.quote(self.build), target or "all", shell.quote(self.folder))))
end

--- The hash of the program.
function tree:program()
  return must("sha1sum <%s/bin/ladies", self.build)
end

--- The tests that ctest knows by name: {command = {words}, env = {NAME=VALUE}, folder}. A test of
-- LuaUnit ends with the first failure.
function tree:tests()
  local tests = {}
  local known = cjson.decode(must("ctest --test-dir %s --show-only=json-v1", self.build))
  for _, test in ipairs(known.tests) do
    local one = {command = test.command, env = {}, folder = self.build}
    for _, property in ipairs(test.properties) do
      if property.name == "ENVIRONMENT" then one.env = property.value end
      if property.name == "WORKING_DIRECTORY" then one.folder = property.value end
    end
    if test.name:find "^test_" then table.insert(one.command, "--failure") end
    tests[test.name] = one
  end
  return tests
end

--- Runs a test, each process of it for so many seconds at most, with more variables in its
-- environment if given. Returns whether it passed, and the seconds that it took. Other work on the
-- machine is no reason to fail: by the clock a test may take much longer.
function tree:run(test, seconds, env)
  local words = {"env", "TMPDIR=/tmp"}    -- the only folder for temporary files that may be written
  for _, list in ipairs{test.env, env or {}} do
    for _, assignment in ipairs(list) do words[#words + 1] = shell.quote(assignment) end
  end
  words[#words + 1] = ENCLOSED
  local limit = math.ceil(seconds)
  for _, word in ipairs{self.folder, test.folder, tostring(limit), tostring(SLACK * limit),
      table.unpack(test.command)} do
    words[#words + 1] = shell.quote(word)
  end
  local before = core.clock()
  local ok, _, status = os.execute(("%s >%s/test.log 2>&1 </dev/null"):format(
    table.concat(words, " "), shell.quote(self.folder)))
  if status == CANNOT then error("mutants: nothing can be enclosed here; see test.log", 0) end
  must("rm -rf %s/tmp && mkdir %s/tmp", self.folder, self.folder)
  return ok == true, core.clock() - before
end

return tree
