--- Measures how much F1 is lost where each step takes the gradient of S mini-batches instead of
-- one, for an equal number of mini-batches: there are S times fewer steps, with better gradients,
-- and so the best learning rate is larger. For each S it is chosen by validation F1 among three:
-- that of one mini-batch, sqrt(S) times and S times as much.

local carry_out = require "ladies.study.carry_out"
local declared = require "experiments.options"
local errors = require "ladies.base.errors"
local experiment = require "ladies.experiment"
local json = require "ladies.base.json"
local settings_text = require("ladies.experiment.settings").text
local statistics = require "ladies.statistics"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

local WHERE = "ladies bench accumulate"

-- The rules: how many times the learning rate of one mini-batch.
local RULES = {
  {name = "lr", factor = function() return 1 end},
  {name = "√S lr", factor = math.sqrt},
  {name = "S lr", factor = function(S) return S end},
}

-- Returns the settings of all runs, for options of accumulated.measure.
local function common_of(opts)
  return tables.merged({method = "ladies", samples = 512, dataset = "wordnet", patience = 0,
    eval_every = (opts.batches + 4) // 5}, opts.settings, {max_batches = opts.batches})
end

-- Returns the variants of S mini-batches a step, one for each rule: see ladies.study.repeated. For
-- S = 1 all rules give the same learning rate, and so there is a single variant.
local function variants_of(S, common)
  local lr = experiment.configure(common).lr
  return tables.map(RULES, function(rule)
    local scaled = lr * rule.factor(S)
    return {key = ("%d a step, lr %g"):format(S, scaled),
      settings = tables.merged(common, {accumulate = S, lr = scaled})}
  end)
end

-- Returns the validation F1s of a variant in percent, by seed.
local function val_f1(variant)
  return statistics.column(variant.records, "val_f1", 100)
end

-- Returns the variant of the highest mean validation F1, the first of equal ones.
local function best_of(variants)
  local best, most = nil, -1
  for _, variant in ipairs(variants) do
    local mean = statistics.mean(val_f1(variant))
    if mean > most then best, most = variant, mean end
  end
  return best
end

-- Returns a table with a row for each S: validation F1 by each rule, and test F1 by the best,
-- beside that of the first.
local function table_of(rows, batches)
  local heads = {"S", "steps"}
  for i, rule in ipairs(RULES) do
    local name = "validation_" .. i
    heads[#heads + 1] = {"validation, " .. rule.name, csv = {name, name .. "_half_width"}}
  end
  local results = Table.new(tables.append(heads, {"best lr",
    {"test", csv = {"test", "test_half_width"}},
    {("beside S = %d"):format(rows[1].S), csv = {"beside", "beside_half_width"}}}))
  local first = best_of(rows[1].variants)
  for _, row in ipairs(rows) do
    local best = best_of(row.variants)
    local cells = tables.map(row.variants, function(variant)
      return Table.interval(val_f1(variant), "%.1f")
    end)
    results:add(tables.append(tables.append({row.S, batches // row.S}, cells),
      {("%g"):format(best.settings.lr), test_f1.cell(best),
        best == first and "" or test_f1.difference_cell(best, first)}))
  end
  return results
end

-- Returns the note on what the numbers of the table are.
local function description(opts)
  local own = settings_text(tables.merged({dataset = "wordnet"}, opts.settings), "seed")
  return ([[Micro-F1 in percent after %d mini-batches, of the model that is kept; %s.
LADIES (512), %s, all else as it is by default. The learning rate of a row is the best of
its three by validation; of that the test F1 is shown, also less the first row's, seed by seed.]])
    :format(opts.batches, opts.runs == 1 and "of one seed"
      or ("mean over %d seeds with its 95 %% interval by Student's t"):format(opts.runs), own)
end

local ACCUMULATED = {
  where = WHERE, name = "accumulate", title = "What larger steps cost", whole = true, seeded = true,
  folder = "runs/accumulate",
  identity = function(opts) return "accumulate " .. json.encode(common_of(opts)) end,
  options = declared.types "bench accumulate",
}

function ACCUMULATED.check(opts)
  for _, S in ipairs(opts.accumulate) do
    if opts.batches % S ~= 0 then
      errors.fail(("%s: %d mini-batches are no whole steps of %d"):format(WHERE, opts.batches, S))
    end
  end
end

function ACCUMULATED.cases(opts)
  local all, common = {}, common_of(opts)
  local rows = tables.map(opts.accumulate, function(S)
    return {S = S, variants = variants_of(S, common)}
  end)
  for _, row in ipairs(rows) do tables.append(all, row.variants) end
  return all, rows
end

function ACCUMULATED.show(report, _, opts, rows)
  report:results(table_of(rows, opts.batches))
  report:note(description(opts))
end

--- accumulated(opts) -> table: trains with each S of opts.accumulate, all of which divide
-- opts.batches, and returns a report (see ladies.report). The options are those of the command, and
-- those of a study.
local function accumulated(given) return carry_out(ACCUMULATED, given) end

return accumulated
