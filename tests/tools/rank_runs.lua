--- Runs of tests/tools/train_ranks.lua by several ranks, or alone, in temporary folders by name.
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."

local lu = require "luaunit"
local files = require "tools.files"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local rank_runs = {}

--- Trains with n ranks and these options, the text inside of a Lua table; n = 0 is the program
-- without mpirun. Returns what ranks.run does, whose options `opts` are.
function rank_runs.run(n, folder, options, opts)
  local words = {here .. "/train_ranks.lua",
    ("{out = %q, resume = true, %s}"):format(temporary.path(folder), options or "")}
  if n == 0 then return shell.run_ladies(words, opts) end
  return ranks.run(n, words, opts)
end

--- The same for a run that goes well: what it printed.
function rank_runs.train(n, folder, options)
  local out, err, status = rank_runs.run(n, folder, options)
  lu.assertEquals(status, 0, out .. err)
  return out
end

--- The bytes of a file that it left.
function rank_runs.read(folder, name)
  return files.read(temporary.path(folder) .. "/" .. name)
end

return rank_runs
