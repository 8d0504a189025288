--- Runs of tests/tools/train_ranks.lua by several ranks, or alone, in temporary folders by name.
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."

local core = require "ladies_core"
local ladies = require "ladies"
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
  return (shell.succeeded(rank_runs.run(n, folder, options)))
end

--- Takes what `run` returns of a run that must be refused; returns the one line of a rank that says
-- why.
function rank_runs.refused(out, err, status)
  shell.refused(out, err, status)
  lu.assertEquals(select(2, err:gsub("rank %d of %d on ", "")), 1, err)
  return err
end

--- Functions for runs on a data set at `path` with the options `common`, too:
-- run(n, path, folder, options, opts) and train(n, path, folder, options), as those above; `train`
-- also returns what was printed to stderr
-- alone(path, options): what one process prints, which trains once, and the name of its folder
-- check(n, path, whole, options, more): n ranks, with the options `more` too, print and leave what
-- one process does with the data set at `whole`
function rank_runs.on_data(common)
  local runs, printed, n_alone = {}, {}, 0
  function runs.run(n, path, folder, options, opts)
    return rank_runs.run(n, folder, ("data = ladies.data.load(%q), %s, %s"):format(path, common,
      options or ""), opts)
  end
  function runs.train(n, path, folder, options)
    return shell.succeeded(runs.run(n, path, folder, options))
  end
  function runs.alone(path, options)
    local key = path .. (options or "")
    if not printed[key] then
      n_alone = n_alone + 1
      local folder = "alone " .. n_alone
      printed[key] = {(runs.train(0, path, folder, options)), folder}
    end
    return table.unpack(printed[key])
  end
  function runs.check(n, path, whole, options, more)
    local expected, other = runs.alone(whole, options)
    local folder = ("%d ranks, %s"):format(n, other)
    lu.assertEquals(runs.train(n, path, folder, (options or "") .. (more or "")), expected, folder)
    rank_runs.assert_same(folder, other)
  end
  return runs
end

--- A data set with features for the models of these tests.
function rank_runs.data(seed, features)
  return ladies.generate.power_law{nodes = 1000, entries = 8000, features = features or 12,
    classes = 3, train = 0.3, val = 0.2, seed = seed or 1}
end

--- Gives each of two ranks the common file and its shards of the five at `path` in a folder of its
-- own; returns their beginning, behind which comes the number of the rank.
function rank_runs.apart(path, name)
  for rank, shards in pairs{[0] = {1, 2, 3}, {4, 5}} do
    local folder, list = temporary.path(name .. rank), {"common.safetensors"}
    for i, k in ipairs(shards) do list[i + 1] = ("shard-%d-of-5.safetensors"):format(k) end
    core.folder.make(folder)
    for _, file in ipairs(list) do
      files.write(folder .. "/" .. file, files.read(path .. "/" .. file))
    end
  end
  return temporary.path(name)
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
