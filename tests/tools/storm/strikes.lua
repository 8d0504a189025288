--- Strikes of a storm: what is done to processes at a random moment, and how it is undone when they
-- have ended. A strike:
--
--   name
--   env                        array of NAME=VALUE for the processes
--   hit(struck)                does it; struck has process, pid, n_ranks, mark, disk, rng
--   undo(struck)               when they have ended; nil where nothing is left
--   says                       a pattern, one line of which is due where they fail
--   goes_on                    true where they are to go on, and may be struck again
--
-- Within tests/tools/hosts.sh the network can be cut and a disk filled, elsewhere they are not.

local core = require "ladies_core"
local shell = require "tools.shell"

local strikes = {}

--- Seconds for which ranks wait for one that does not come, in strikes that make one so.
strikes.PATIENCE = 4

local PATIENCE = {"LADIES_PATIENCE=" .. strikes.PATIENCE}
local LONG_PAUSE = 30
local HOSTS = os.getenv "LADIES_HOSTS"

-- The processes of a mark that run the program itself, without those that start it.
local RANKS = [[
  for p in $(grep -lsaF "$0" /proc/[0-9]*/environ); do
    [ "$(cat ${p%environ}comm 2>/dev/null)" = ladies ] && echo ${p%environ}
  done]]

local function signal(name, pids)
  if pids[1] then shell.run{"kill", "-" .. name, table.unpack(pids)} end
end

local function ranks_of(struck)
  local list = {}
  for pid in shell.run{"sh", "-c", RANKS, struck.mark}:gmatch "/proc/(%d+)" do
    list[#list + 1] = pid
  end
  return list
end

-- Whom a signal goes to: the process alone; of ranks mpirun, one of them, or all at once.
local function targets(struck)
  local whom = struck.n_ranks > 0 and struck.rng:below(3) or 1
  local list = whom > 1 and ranks_of(struck) or {}
  if #list == 0 then return {struck.pid}, struck.n_ranks > 0 and "mpirun" or "it" end
  if whom == 2 then return {list[struck.rng:below(#list)]}, "a rank" end
  return list, "all ranks"
end

-- A rank, as soon as there is one; none where all has ended. Never mpirun: ranks give each other
-- up, but nobody gives up an mpirun that is stopped for good.
local function one_rank(struck)
  local list = ranks_of(struck)
  while #list == 0 and not struck.process:wait(0.05) do list = ranks_of(struck) end
  return {list[1] and list[struck.rng:below(#list)]}
end

local function ends(name)
  return {name = name, hit = function(struck)
    local pids, whom = targets(struck)
    signal(name, pids)
    return whom
  end}
end

-- Stops them, perhaps all, and lets them go on after so many seconds.
local function pause(name, of, longest, env)
  return {name = name, env = env, goes_on = true, hit = function(struck)
    local pids = of(struck)
    signal("STOP", pids)
    struck.process:wait(longest or struck.rng:below(300) / 1000)
    signal("CONT", pids)
  end}
end

local ALONE = {ends "KILL", ends "TERM", ends "INT", pause("STOP, CONT", targets)}

-- A rank that is stopped for longer than the others wait, and one that comes back after a while.
local OF_RANKS = {
  {name = "stopped", env = PATIENCE, says = "ranks: ",
    hit = function(struck) signal("STOP", one_rank(struck)) end},
  pause(("stopped for %d s"):format(LONG_PAUSE), one_rank, LONG_PAUSE),
}

local function link(state) shell.run{"ip", "link", "set", "eth1", state} end

-- Where a network is cut before MPI has begun, MPI ends the ranks, by lines of its own that mpirun
-- --quiet leaves out.
local OF_NETWORK = {
  {name = "cut off", env = PATIENCE,
    hit = function() link "down" end, undo = function() link "up" end},
  {name = "cut off for 2 s", goes_on = true, hit = function(struck)
    link "down"
    struck.process:wait(2)
    link "up"
  end},
}

local FULL = {name = "full disk", says = "No space left on device", hit = function(struck)
  local filler = struck.disk .. "/filler"
  shell.run{"sh", "-c", 'head -c 1G /dev/zero >"$0"', filler}
  if struck.rng:below(2) == 1 then          -- so that a file begins, and is not finished
    shell.run{"truncate", "-s", ("-%d"):format(struck.rng:below(40000)), filler}
  end
end, undo = function(struck) os.remove(struck.disk .. "/filler") end}

--- Draws a strike for a process, or for so many ranks; `again`: for one that was struck before.
function strikes.draw(rng, n_ranks, again)
  local list = table.move(ALONE, 1, #ALONE, 1, {})
  if again then return list[rng:below(#list)] end
  local function add(more) table.move(more, 1, #more, #list + 1, list) end
  if HOSTS then add{FULL, FULL} end
  if n_ranks > 0 then add(OF_RANKS) end
  if n_ranks > 0 and HOSTS then add(OF_NETWORK) end
  return list[rng:below(#list)]
end

--- A disk in a folder that is to be made: a file system of its own where one can be mounted.
-- disk:close(keep) leaves its files where they are, with `keep`, or without any.
function strikes.disk(path)
  core.folder.make(path)
  if HOSTS then shell.run{"mount", "-t", "tmpfs", "-o", "size=64m", "none", path} end
  return {path = path, close = function(_, keep)
    if not HOSTS then return end
    if keep then shell.run{"cp", "-a", path, path .. "-kept"} end
    shell.run{"umount", path}
  end}
end

return strikes
