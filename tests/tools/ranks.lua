--- Running the host as several processes by mpirun, on this machine, as many as wanted. Where MPI
-- is not there, the test is skipped.
local core = require "ladies_core"
local lu = require "luaunit"
local files = require "tools.files"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local ranks = {}

local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
local suppressions = core.real_path(here .. "/mpi_leaks.txt")

--- Settings for mpirun: it looks for no network and no other machine, unless it is on hosts of
-- tests/tools/hosts.sh; its hwloc does not complain where there is no /sys, and what it leaks
-- itself is none of ours. The leak check of GCC up to 13 takes some of what libraries keep for a
-- thread for a header of old glibcs, and crashes at the end of a rank, unless it leaves
-- __tls_get_addr alone. Its sockets lie in a folder of this test's own, since one mpirun removes
-- the folder that all of a user's share while another begins in it.
ranks.environment = {
  "OMPI_MCA_orte_tmpdir_base=" .. temporary.path "mpi",
  "ASAN_OPTIONS=detect_leaks=1:intercept_tls_get_addr=0",
  ("LSAN_OPTIONS=print_suppressions=0:suppressions=%s"):format(suppressions),
  "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
  "OMPI_MCA_btl_vader_single_copy_mechanism=none", "OMPI_MCA_odls_base_sigkill_timeout=0",
  "OMPI_MCA_rmaps_base_oversubscribe=1",
  "OMPI_MCA_hwloc_base_binding_policy=none", "HWLOC_HIDE_ERRORS=2",
  not os.getenv "LADIES_HOSTS" and "OMPI_MCA_plm=isolated" or nil,
  not os.getenv "LADIES_HOSTS" and "OMPI_MCA_btl=self,vader" or nil,
}

local LIMIT = "120"   -- seconds, after which a run counts as one that hangs

local module = shell.ladies:gsub("[^/]*$", "../lib/ladies/ladies_ranks.so")

--- Tells whether there is MPI here and in the program.
function ranks.available()
  return core.process.exists "mpirun" and core.exists(module) == "file"
end

local mpich_home = shell.ladies:gsub("[^/]*$", "../tests/mpich")

--- The option of ranks.run that starts ranks by MPICH in place of mpirun, where the program's
-- module was built for MPICH, too; nil elsewhere. Memory that MPICH leaks is not the program's, and
-- UCX, by which it sends, must not replace malloc.
ranks.mpich = core.process.exists "mpiexec.mpich"
  and core.exists(mpich_home .. "/lib/ladies/ladies_ranks.so") == "file"
  and {words = {"mpiexec.mpich"}, env = {"LADIES_HOME=" .. core.real_path(mpich_home),
    "ASAN_OPTIONS=detect_leaks=0", "UCX_MEM_EVENTS=n"}} or nil

-- The environment of mpirun, with that of a test.
local function environment(own)
  local env = table.move(ranks.environment, 1, #ranks.environment, 1, {})
  return table.move(own or {}, 1, #(own or {}), #env + 1, env)
end

-- The command line, with the words `before` before it.
local function words(n, arguments, opts)
  local list = {"timeout", "-k", "5", LIMIT}
  local launcher = opts.launcher and opts.launcher.words
    or opts.loud and {"mpirun"} or {"mpirun", "--quiet"}
  for _, part in ipairs{opts.before or {}, launcher, {"-n", tostring(n), shell.ladies},
      arguments} do
    table.move(part, 1, #part, #list + 1, list)
  end
  return list
end

--- Runs the host with arguments as n ranks; returns what they printed, what they printed to stderr,
-- and the status. Options are those of shell.run, `before`, the words of a program that starts
-- mpirun, `loud`: with what mpirun itself says of a rank that ends, and `launcher`: ranks.mpich.
function ranks.run(n, arguments, opts)
  if not ranks.available() then lu.skip "there is no MPI" end
  opts = opts or {}
  local env = environment(opts.launcher and opts.launcher.env)
  local out, err, status = shell.run(words(n, arguments, opts), {
    env = table.move(opts.env or {}, 1, #(opts.env or {}), #env + 1, env),
    folder = opts.folder, stdin = opts.stdin})
  lu.assertNotEquals(status, 124, "it hangs: " .. out .. err)
  return out, err, status
end

--- Runs a script, given as text, with arguments as n ranks, as ranks.run does the host.
function ranks.run_script(n, text, arguments, opts)
  local script <close> = shell.folder()
  local path = files.write(script.path .. "/script.lua", text)
  return ranks.run(n, {path, table.unpack(arguments or {})}, opts)
end

--- Runs a text by the shell, in which `ladies` is the host and mpirun may be called.
function ranks.run_shell(text, opts)
  if not ranks.available() then lu.skip "there is no MPI" end
  local path = ("PATH=%s:%s"):format(shell.ladies:match "^(.*)/", os.getenv "PATH")
  return shell.run({"timeout", "-k", "5", LIMIT, "sh", "-ec", text}, {env = environment{path},
    folder = opts.folder})
end

return ranks
