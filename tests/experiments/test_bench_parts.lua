--- `ladies bench parts`: what is trained, and the numbers of both tables.
local lu = require "luaunit"
local in_parts = require "experiments.bench.in_parts"
local ladies = require "ladies"
local shell = require "tools.shell"
local statistics = require "ladies.statistics"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

local function report(out, given)
  local opts = {datasets = {toy_study.dataset}, batches = 8, runs = 2, count_layers = 2, jobs = 1,
    quiet = true, out = temporary.path(out), settings = {hidden = 8, layers = 2, batch_size = 5,
      lr = 0.01, eval_every = 4, accumulate = 4, samples = 8}}
  for key, value in pairs(given or {}) do opts[key] = value end
  return in_parts(opts), opts.out
end

function tests.test_tables()
  if not ladies.have_metis then return end
  local found, out = report "tables"
  local records, n = toy_study.records_of(out)
  lu.assertEquals(n, 4)
  local function f1(from)
    local list = {}
    for seed = 1, 2 do
      local record = records[("%s, seeds from %s, seed %d"):format(toy_study.dataset, from, seed)]
      lu.assertEquals({record.config.seeds_from, record.config.accumulate}, {from, 4})
      list[seed] = 100 * record.test_f1
    end
    return list
  end
  local function cell(list, format)
    return ("%s ± %.1f"):format(format:format(statistics.mean(list)), statistics.half_width(list))
  end
  local all, parts = f1 "all", f1 "parts"
  lu.assertEquals({table.unpack(found.tables[2][2], 2)}, {cell(all, "%.1f"), cell(parts, "%.1f"),
    cell({parts[1] - all[1], parts[2] - all[2]}, "%+.1f")})

  local upper, data = found.tables[1], ladies.data.load(toy_study.dataset)
  lu.assertEquals(#upper, 4)
  for i, by in ipairs{"random", "ldg", "metis"} do
    local _, cut = data.graph:partition(4, {by = by,
      balanced = by ~= "random" and data.train or nil})
    lu.assertEquals(upper[i + 1][3], ("%.1f %%"):format(100 * cut / data.graph.n_edges))
  end
end

function tests.test_command()
  lu.assertErrorMsgContains("ladies bench parts: 8 ranks share a step of 4", report, "many",
    {ranks = {2, 8}})
  if not ladies.have_metis then return end
  local out = shell.silent(shell.run_ladies{"bench", "parts", "--datasets", toy_study.dataset,
    "--batches", "4", "--runs", "1", "--accumulate", "2", "--ranks", "2", "--hidden", "4",
    "--count-layers", "1", "--batch-size", "8", "--eval-every", "4", "--out",
    temporary.path "command", "--quiet"})
  lu.assertStrContains(out, "entries cut |")
  lu.assertStrContains(out, "in 4 steps of LADIES (512) with 1 layer,")
end

return tests
