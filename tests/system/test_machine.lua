--- Tests the share of the machine that a process has: the limits of its control groups
-- (test_platform.lua has them read from files of all kinds), divided by the ranks on the host, and
-- a line where it is bound to fewer processors than it could use.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local machine = require "ladies.base.machine"
local ranks = require "tools.ranks"
local shell = require "tools.shell"

local tests = {}

local MEMORY = "/sys/fs/cgroup/memory"
function tests.test_of_this_process()
  local has = core.machine()
  lu.assertEquals(has.memory, machine.memory())
  lu.assertEquals(has.processors, math.min(has.allowed, has.share))
  lu.assertEquals(has.share, has.all)
  lu.assertTrue(has.all >= 1 and has.memory > 1e6)
  lu.assertEquals(machine.cores, has.processors)
end

--- Where no other program can be started nobody tells the commit of a checkout.
function tests.test_no_commit()
  lu.assertEquals(shell.run_ladies{"-e", [[
    io.popen = function() return nil, "Cannot allocate memory" end
    print(require "ladies.base.commit"())
  ]]}, "nil\n")
end

-- The words that run a command in a new control group of that many bytes; nil where this user may
-- make none. The group goes with the result.
local function group(bytes)
  local path = ("%s/ladies-test-%d"):format(MEMORY, math.random(1 << 40))
  if core.exists(MEMORY .. "/memory.limit_in_bytes") ~= "file"
    or not os.execute(("mkdir %s 2>/dev/null"):format(path)) then
    return nil
  end
  local limited = os.execute(("echo %d 2>/dev/null >%s/memory.limit_in_bytes"):format(bytes, path))
  local guard = setmetatable({words = {"sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"',
    path}}, {__close = function() os.execute("rmdir " .. path) end})
  if limited then return guard end
  getmetatable(guard).__close()
end

local function run_in(guard, arguments)
  local words = table.move(guard.words, 1, #guard.words, 1, {})
  words[#words + 1] = shell.ladies
  table.move(arguments, 1, #arguments, #words + 1, words)
  return shell.run(words)
end

--- A real control group, where this machine lets a test make one, limits the memory: features that
-- are larger than a quarter of it stay in their file, and inference may have half.
function tests.test_in_a_control_group()
  local guard <close> = group(512 << 20)
  if not guard then lu.success() end
  local folder <close> = shell.folder()
  local path = folder.path .. "/x.npz"
  ladies.npz.write(path, {a = ladies.zeros(40000, 1000)}, {compress = false})      -- 160 MB
  local out, err = shell.succeeded(run_in(guard, {"-e", ([[
    local ladies = require "ladies"
    local features = require "ladies.data.formats.npz.features"
    print(require "ladies.base.machine".memory() >> 20)
    local f <close> = ladies.npz.open %q
    print(features("x", {}, f, "a"))]]):format(path)}))
  lu.assertStrMatches(out, "512\nRows 40000 x 1000.*", nil, nil, err)
end

--- Ranks on one host have a part each.
function tests.test_ranks_divide()
  local has = core.machine()
  for _, n in ipairs{2, 3} do
    local out = shell.silent(ranks.run_script(n, [[
      local ladies = require "ladies"
      local has = require "ladies_core".machine()
      for _, line in ipairs(ladies.comm.gather(("%d %d %d %d"):format(has.memory, has.processors,
        has.share, ladies.threads()))) do
        print(line)
      end]]))
    local share = math.max(1, has.all // n)
    local cores = math.min(has.allowed, share)
    local line = ("%d %d %d %d\n"):format(has.memory // n, cores, share, cores)
    lu.assertEquals(out, line:rep(n))
  end
end

-- Returns what is said of a run on one processor, with so many threads, by these words of `env`.
local function said(threads, ...)
  local folder <close> = shell.folder()
  local words = {"env", "-u", "OMPI_COMM_WORLD_SIZE", ...}
  table.move({"taskset", "-c", "0", shell.ladies, "-e", ("require 'ladies'.threads(%s)"):format(
    threads), here .. "/tools/train_toy.lua", folder.path .. "/run", "1", "0"}, 1, 9, #words + 1,
    words)
  local _, err = shell.succeeded(shell.run(words))
  return err
end

--- A line tells where the mask of a run has fewer processors than its threads, or than its share,
-- unless there are no more.
function tests.test_bound()
  local all = core.machine().all
  local launched = "OMPI_COMM_WORLD_SIZE=1"
  local function line(text, ...) return all > 1 and text:format(...) or "" end
  lu.assertEquals(said "", "")
  lu.assertEquals(said("2"), line("ladies.train: this process may run on 1 of the %d cores of this "
    .. "host, and 2 threads were asked for; whoever has started it has bound it to these (taskset)"
    .. "\n", all))
  local rest = "mpirun --bind-to none (srun --cpu-bind=none) leaves all of them to it\n"
  lu.assertEquals(said("2", launched), line("ladies.train: each rank may run on 1 of the %d cores "
    .. "of this host, and 2 threads were asked for; %s", all, rest))
  lu.assertEquals(said("", launched), line("ladies.train: each rank may run on 1 of the %d cores "
    .. "of this host, and its share is %d; %s", all, all, rest))
  lu.assertEquals(said("", launched, "LADIES_WITHIN_RANK=1"), "")       -- a rank's own child
end

return tests
