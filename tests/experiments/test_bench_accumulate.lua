--- `ladies bench accumulate`: what is trained, which learning rate is taken, and the numbers of the
-- table.
local lu = require "luaunit"
local accumulated = require "experiments.bench.accumulated"
local shell = require "tools.shell"
local statistics = require "ladies.statistics"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

local function report(out, given)
  local opts = {accumulate = {1, 4}, batches = 8, runs = 2, jobs = 1, quiet = true,
    out = temporary.path(out), settings = {dataset = toy_study.dataset, hidden = 8, samples = 8,
      batch_size = 20, lr = 0.01, eval_every = 4}}
  for key, value in pairs(given or {}) do opts[key] = value end
  return accumulated(opts), opts.out
end

function tests.test_table()
  local found, out = report "table"
  local records, n = toy_study.records_of(out)
  lu.assertEquals(n, 2 + 2 * 3)
  local function f1(kind, S, lr)
    local list = {}
    for seed = 1, 2 do
      local record = records[("%d a step, lr %g, seed %d"):format(S, lr, seed)]
      local config = record.config
      lu.assertEquals({config.accumulate, config.lr, config.seed, config.max_batches},
        {S, lr, seed, 8})
      list[seed] = 100 * record[kind]
    end
    return list
  end
  local function cell(list, format)
    return ("%s ± %.1f"):format(format:format(statistics.mean(list)), statistics.half_width(list))
  end
  local best, most = nil, -1
  for _, lr in ipairs{0.01, 0.02, 0.04} do
    local mean = statistics.mean(f1("val_f1", 4, lr))
    if mean > most then best, most = lr, mean end
  end
  local test, first = f1("test_f1", 4, best), f1("test_f1", 1, 0.01)
  local rows, own = found.tables[1], cell(f1("val_f1", 1, 0.01), "%.1f")
  lu.assertEquals(rows[2], {"1", "8", own, own, own, "0.01", cell(first, "%.1f"), ""})
  lu.assertEquals(rows[3], {"4", "2", cell(f1("val_f1", 4, 0.01), "%.1f"),
    cell(f1("val_f1", 4, 0.02), "%.1f"), cell(f1("val_f1", 4, 0.04), "%.1f"), ("%g"):format(best),
    cell(test, "%.1f"), cell({test[1] - first[1], test[2] - first[2]}, "%+.1f")})
end

function tests.test_command()
  lu.assertErrorMsgContains("ladies bench accumulate: 9 mini-batches are no whole steps of 4",
    report, "odd", {batches = 9})
  local out = shell.silent(shell.run_ladies{"bench", "accumulate", "--accumulate", "1,2",
    "--batches", "4", "--runs", "1", "--dataset", toy_study.dataset, "--samples", "8", "--hidden",
    "4", "--out", temporary.path "command", "--quiet"})
  lu.assertStrContains(out, "| S | steps | validation, lr | validation, √S lr |")
  lu.assertStrContains(out, "after 4 mini-batches, of the model that is kept; of one seed.")
end

return tests
