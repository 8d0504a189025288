--- `ladies bench`: what the program does with a machine, each part beside what the machine can do.

local core = require "ladies_core"
local ladies = require "ladies"
local Table = require "ladies.report.table"
local kernels = require "experiments.bench.kernels"
local medians = require "ladies.statistics.medians"
local paired = require "experiments.bench.paired"
local tables = require "ladies.base.tables"
local whole = require "experiments.bench.whole"

local machine = {}

local GROUPS = tables.append(tables.append({}, whole.groups), kernels.groups)

--- Returns the plain loops of scripts/bench/limits/limits.c.
function machine.limits()
  local path = ladies.home() .. "/../../lib/ladies/ladies_limits.so"
  local open, reason = package.loadlib(path, "luaopen_ladies_limits")
  if not open then error("the loops to compare with are in the build tree alone: " .. reason, 0) end
  return open()
end

-- Adds to a context what needs the rate of BLAS: blas_seconds(), of one multiplication or addition
-- now, and by_blas(case), which gives the case that limit.
local function add_blas(ctx)
  local room = ctx.limits.side * ctx.limits.side * ladies.threads()
  local a, b, c = core.ones(room), core.ones(room), core.ones(room)
  function ctx.blas_seconds()
    local began = paired.clock()
    local operations = ctx.limits.multiply(a, b, c)
    return (paired.clock() - began) / operations
  end
  function ctx.by_blas(case)
    case.of, case.limit = "sgemm", function() return case.flops * ctx.blas_seconds() end
    return case
  end
end

-- Returns the data, network and mini-batch that the cases are made of: WordNet, with the settings
-- of `ladies train` and the paper's network.
local function context(program)
  local data = ladies.data.load "wordnet"
  local config = ladies.experiment.configure{model = "gcn"}
  local rng = ladies.rng(1)
  local ctx = {limits = machine.limits(), program = program, data = data, config = config,
    rng = rng, temporary = {}}
  ctx.model = ladies.experiment.model(config, data)
  local sampler = ladies.experiment.sampler(config, data, ctx.model)
  ctx.P = data.graph:normalize(config.normalize)
  local seeds = data.train[ladies.sampling.uniform(#data.train, 512, {rng = rng})]
  local batch = sampler(seeds, rng:fork(1))
  ctx.block = batch.blocks[4]
  ctx.features = data.features:rows(batch.input)
  add_blas(ctx)
  return setmetatable(ctx, {__close = function()
    for _, path in ipairs(ctx.temporary) do os.remove(path) end
  end})
end

-- Returns the numbers of a case, as plain data.
local function measured(group, case, seconds)
  local ours, limit = paired.measure(case.run, case.limit, seconds)
  local spread = medians.spread(tables.map(ours, function(x) return 1e3 * x end))
  local median = 1e-3 * spread.median
  return {
    group = group, name = case.name, ms = spread, rounds = #ours, of = case.of,
    percent = medians.ratio(limit, ours, 100), best = paired.best(limit, ours, 100),
    gb_s = case.bytes and 1e-9 * case.bytes / median,
    gflop_s = case.flops and 1e-9 * case.flops / median,
    per_second = case.batches and 1 / median,
  }
end

--- machine.measure{seconds =, program =, only =, told =}: the numbers of every case, or of those
-- in the groups that the array `only` names, as an array of plain tables: group, name; ms and
-- percent (of the limit, spreads of ladies.statistics.medians) and best, the percentage of the
-- fastest rounds; of, what the limit is; rounds; gb_s, gflop_s, per_second where they mean
-- something. seconds: for one case; program: the path of this one; told(result) is called after
-- each.
function machine.measure(opts)
  local chosen = {}
  for _, name in ipairs(opts.only or {}) do chosen[name] = true end
  local ctx <close> = context(opts.program)
  local list = {}
  for _, group in ipairs(GROUPS) do
    local name, make = table.unpack(group)
    if not opts.only or chosen[name] then
      for _, case in ipairs(make(ctx)) do
        local result = measured(name, case, opts.seconds)
        list[#list + 1] = result
        if opts.told then opts.told(result) end
        collectgarbage()
      end
    end
  end
  return list
end

--- Returns the names of the groups.
function machine.groups()
  return tables.map(GROUPS, function(group) return group[1] end)
end

--- Returns the results of `measure` as a table for readers, in Markdown.
function machine.table(results)
  local content = Table.new{"work", "ms (quartiles)", "GB/s", "GFLOP/s", "a second", "% of",
    "limit"}
  local function number(x, format) return Table.number(x, format) end
  for _, one in ipairs(results) do
    content:add{one.group .. ": " .. one.name, medians.text(one.ms, "%.3f"),
      number(one.gb_s, "%.1f"), number(one.gflop_s, "%.1f"), number(one.per_second, "%.0f"),
      one.of and medians.text(one.percent, "%.0f") or "-", one.of or "-"}
  end
  return content:markdown()
end

return machine
