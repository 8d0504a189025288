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

--- Trains as `run` does, which must succeed, and returns what was printed.
function rank_runs.train(n, folder, options)
  local out, err, status = rank_runs.run(n, folder, options)
  lu.assertEquals(status, 0, out .. err)
  return out
end

--- Two functions as those above, run(n, path, folder, options, opts) and train(n, path, folder,
-- options), for runs on the data set at `path` with the options `common`, too. `train` also returns
-- what was printed to stderr.
function rank_runs.on_data(common)
  local function run(n, path, folder, options, opts)
    return rank_runs.run(n, folder, ("data = ladies.data.load(%q), %s, %s"):format(path, common,
      options or ""), opts)
  end
  local function train(n, path, folder, options)
    return shell.succeeded(run(n, path, folder, options))
  end
  return run, train
end

--- The bytes of a file that it left.
function rank_runs.read(folder, name)
  return files.read(temporary.path(folder) .. "/" .. name)
end

--- Two runs left the same model and the same predictions.
function rank_runs.assert_same(folder, other)
  for _, file in ipairs{"model.npz", "predictions.npz"} do
    lu.assertTrue(rank_runs.read(folder, file) == rank_runs.read(other, file),
      folder .. "/" .. file)
  end
end

return rank_runs
