--- Loops of one's own by several ranks with features in shards: the bits of one process alone with
-- all of the features, and no rank that waits for ever where a loop ends early.
local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local ladies = require "ladies"
local rank_runs = require "tools.rank_runs"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local made

-- One data set: whole, in a file, and in shards.
local function paths()
  if made then return table.unpack(made) end
  local whole, shards = temporary.path "whole.safetensors", temporary.path "shards"
  ladies.data.save(rank_runs.data(), whole, {dtype = "float16"})
  ladies.data.to_shards(whole, shards, {shards = 5, features_in = "file"})
  made = {whole, shards}
  return whole, shards
end

-- A loop as that of doc/clusters.md. Arguments: the data set, mini-batches of a step, the model,
-- and what is special. each(steps so far), after each mini-batch, may say "break".
local SCRIPT = [[
local ladies = require "ladies"
local path, S, name, special = table.unpack(arg)
local comm, data = ladies.comm, ladies.data.load(path)
local P, S = data.graph:normalize "sym", tonumber(S)
local function sampler(seeds, rng)
  local batch = ladies.samplers.ladies(P, {samples = {20, 20}})(seeds, rng)
  if special == "penalty" then
    function batch.penalty(_, trained, loss)
      return trained:parameters()[1]:square():sum() * 0.01 + loss * 0.5
    end
  end
  return batch
end
local model = ladies.nn[name]{inputs = 12, hidden = 8, outputs = 3, layers = 2, dropout = 0.2}
local adam = ladies.optim.adam(model:parameters(), {lr = 0.01})
local function train(epochs, each)
  local at = 0
  for batch in ladies.batches(data.train, {batch_size = 10, sampler = sampler, epochs = epochs,
    step = S,
      features = data.features, model = model, workers = special == "workers" and 1 or 0}) do
    local step <close> = ladies.step()
    local logits = model:forward(data.features, batch)
    local loss = ladies.loss.cross_entropy(logits, data.labels[batch.output], batch.loss_weight)
    if batch.penalty then loss = loss + batch:penalty(model, loss) end
    loss:backward()
    if comm.accumulate(adam, S, batch.place) then
      adam:step()
      at = at + 1
    end
    if each and each(at) == "break" then break end
  end
end
local function result()
  local hashes = {}
  for i, parameter in ipairs(model:parameters()) do hashes[i] = parameter:hash() end
  local f1 = comm.together(ladies.metrics.f1, model, data, data.val)
  if comm.rank == 0 then print(table.concat(hashes, " "), f1) end
end
]]

-- The script with these lines behind it, by n ranks or alone (0); words are its further arguments.
local function run(n, lines, words, opts)
  local whole, shards = paths()
  local arguments = {n == 0 and whole or shards, table.unpack(words or {"4", "gcn"})}
  if n > 0 then return ranks.run_script(n, SCRIPT .. lines, arguments, opts) end
  local script = files.write(temporary.path "script.lua", SCRIPT .. lines)
  return shell.run_ladies{script, table.unpack(arguments)}
end

-- Returns what the script prints, which must end well.
local function printed(n, lines, words)
  local out = shell.succeeded(run(n, lines, words))
  lu.assertStrMatches(out, "%x+ .*\n")
  return out
end

--- A loop gives the bits of one process with any number of ranks: with steps of one group of
-- mini-batches and of several, of which ranks have unequal numbers; with rows that the model needs
-- besides; with workers, and with a term that a mini-batch adds to the loss.
function tests.test_same_bits()
  for _, case in ipairs{{"4", "gcn", "", 1, 2, 3, 4}, {"17", "gcnii", "workers", 2, 3},
      {"19", "gcn", "penalty", 2}} do
    local words = table.move(case, 1, 3, 1, {})
    local expected = printed(0, "train(4) result()", words)
    for i = 4, #case do
      lu.assertEquals(printed(case[i], "train(4) result()", words), expected, case[2])
    end
  end
end

--- A loop that all ranks leave early, with rows on their way that are not equally far everywhere,
-- is followed by another, and by the end of the program.
function tests.test_left()
  local lines = [[
    for i = 1, 6 do
      local left = 1 + (comm.rank + i) % 2
      for batch in ladies.batches(data.train, {batch_size = 10, sampler = sampler, step = 8,
          features = data.features}) do
        model:forward(data.features, batch)
        left = left - 1
        if left == 0 then break end
        os.execute "sleep 0.02"
      end
    end
    train(2, function(at) if at == 3 then return "break" end end)
    for _ = 1, 2 do pcall(train, 1, function(at) if at == 2 then error "left" end end) end
    result()
    train(1)
    result()
    train(2, function(at) if at == 3 then return "break" end end)]]
  local expected = printed(0, lines)
  for n = 1, 3 do lu.assertEquals(printed(n, lines), expected) end
end

-- Runs two ranks, of which one does something else than the other; the one line that tells of it.
local function failed(lines, patience)
  local out, err, status = run(2, lines, nil, {env = {"LADIES_PATIENCE=" .. (patience or 2)}})
  lu.assertNotEquals(status, 0, out .. err)
  lu.assertEquals(select(2, err:gsub("rank %d of 2 on ", "")), 1, err)
  return err
end

--- The other ranks do not wait for ever when one leaves the loop alone, by an error or without.
function tests.test_left_alone()
  for rank = 0, 1 do
    lu.assertStrMatches(failed(([[train(4, function(at)
      if at == 3 and comm.rank == %d then error("the reason", 0) end
    end)]]):format(rank)), (".*rank %d of 2 on [^\n]*the reason\n.*"):format(rank))
    lu.assertStrMatches(failed(([[train(4, function(at)
      if at == 3 and comm.rank == %d then return "break" end
    end)]]):format(rank)), (".*rank %d of 2 on [^\n]*rank %d has ended, and this one still waits "
      .. "for it 1 s later\n.*"):format(1 - rank, rank))
  end
end

--- The ranks do not wait for ever either where each waits in another call, or one for rows that the
-- other does not send: a line tells of both, long before their patience ends.
function tests.test_other_calls()
  local function told(lines)
    local began = core.clock()
    local err = failed(lines, 25)
    lu.assertTrue(core.clock() - began < 20)
    lu.assertStrContains(err, "; all must call the same functions in the same order")
    return err
  end
  lu.assertStrMatches(told [[
    for i = 1, 100 do comm.gather(i) end
    if comm.rank == 0 then comm.barrier() else comm.broadcast(1) end
  ]], ".*call 101 of rank [01] is comm%.%a+, and call 101 of this one comm%.%a+;.*")
  lu.assertStrMatches(told [[
    local t = ladies.zeros(2)
    if comm.rank == 0 then comm.all_reduce(t) else comm.broadcast(t, 1) end
  ]], ".*call 1 of rank [01] is comm%.[%a_]+, and call 1 of this one comm%.[%a_]+;.*")
  lu.assertStrMatches(told [[
    train(4, function(at)
      if at == 3 and comm.rank == 0 then return "break" end
    end)
    result()]], ".*call %d+ of rank [01] is [^\n]*, and call %d+ of this one [^\n]*;.*")
  lu.assertStrMatches(told [[
    if comm.rank == 0 then comm.barrier() else train(1) end
  ]], ".*this one waits [^\n]*rows of features.*")
end

--- Mini-batches that cannot be shared are refused.
function tests.test_refused()
  lu.assertStrContains(failed [[
    local own = sampler
    sampler = setmetatable({adaptive = true}, {__call = function(_, ...) return own(...) end})
    train(1)]], "is adaptive: it learns from every mini-batch before the next one")
  lu.assertStrContains(failed [[
    local own = sampler
    function sampler(...)
      local batch = own(...)
      function batch.after_step() end
      return batch
    end
    train(1)]], "have after_step: they change what the next one is made of")
end

--- Ranks whose parameters differ are told so, from the first values or after a step that was
-- another.
function tests.test_other_parameters()
  for said, lines in pairs{
    [1] = "if comm.rank == 1 then model:parameters()[1]:fill_(1) end train(1)",
    [2] = "adam:set_lr(comm.rank == 0 and 0.01 or 0.02) train(2)",
    [4] = "train(2, function(at) if at == 2 then adam:set_lr(0.01 * (1 + comm.rank)) end end)",
  } do
    lu.assertStrContains(failed(lines), ("comm.accumulate: at step %d rank 1 has other parameters "
      .. "than rank 0"):format(said))
  end
end

return tests
