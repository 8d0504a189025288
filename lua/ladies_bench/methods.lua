--- Every method beside LADIES at equal distinct nodes: lines of its sampler, processor time of its
-- mini-batches, bias and variance of what they estimate. The table of doc/samplers.md.

local cells = require "ladies_bench.cells"
local context = require "ladies.lab.context"
local equal = require "ladies.lab.equal"
local in_turns = require "ladies_bench.in_turns"
local markdown = require "ladies.report.markdown"
local measure = require "ladies.lab.measure"
local settings = require "ladies.experiment.settings"
local student = require "ladies.lab.student"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

local WHERE = "ladies_bench.methods"

-- The first groups for times and for equal numbers of nodes.
local TIMES, EQUAL = 40001, 60001

local methods = {}

-- Of GraphSAINT, whose counts take long where subgraphs are small: while samples are looked for.
local FEW_COUNTS = {coverage = 1}

--- The rows: methods, what is set besides, and what is set while samples are looked for. The first
-- is what the others are set beside.
methods.ROWS = {
  {"ladies"}, {"ladies", {flat = true}}, {"ladies", {debias = true}}, {"ladies", {sketch = true}},
  {"pladies"}, {"fastgcn"}, {"graphsage"}, {"labor"}, {"labor", {iterations = "converge"}},
  {"vrgcn"}, {"clustergcn"}, {"graphsaint", {by = "node"}, FEW_COUNTS},
  {"graphsaint", {by = "edge"}, FEW_COUNTS}, {"graphsaint", {by = "rw"}, FEW_COUNTS},
  {"graphsaint", {by = "mrw"}, FEW_COUNTS}, {"shadow"}, {"mvs"}, {"bandit"}, {"bliss"}, {"asgcn"},
  {"pass"}, {"grapes"}, {"full"},
}

-- All have the same P, so that it is the same network that they estimate.
local SHARED = {normalize = "row"}

local function name_of(row)
  return row[2] and ("%s, %s"):format(row[1], settings.text(row[2])) or row[1]
end

local function subject_of(shared, row, more)
  return subject.of(WHERE, row[1], shared.data,
    tables.merged(shared.opts, {settings = tables.merged(SHARED, row[2], more)}))
end

local function run_of(shared, one, draws)
  return {context = shared, sampler = shared:sampler(one), statistics = {}, draws = draws,
    known = shared:exact(shared:propagation_of(one)), name = one.title}
end

-- Processor seconds of one mini-batch: its sampling, and that with its step.
local function seconds_of(run, group)
  local seeds, rng, place = run.context:arguments(run.sampler, group, 1)
  local began = os.clock()
  local batch = run.sampler(seeds, rng, place)
  local sampled = os.clock()
  batch.rng = rng
  run.known:with_loss(batch, function()
    if batch.after_step then batch.after_step(batch, run.known.model) end
  end)
  return {sampled - began, os.clock() - began}
end

local function times_of(base, run, batches)
  return in_turns(tables.map({base, run}, function(one)
    return function(round) return seconds_of(one, TIMES + round) end
  end), batches)[2]
end

--- methods.lines(name): the lines of code of a method's sampler: of LADIES' for those that draw as
-- it does.
function methods.lines(name)
  local own = "ladies.samplers." .. name
  return cells.lines(package.searchpath(own, package.path) and own or "ladies.samplers.ladies")
end

local function row_of(shared, row, opts)
  local base = subject_of(shared, methods.ROWS[1])
  local reached = equal.find(shared, {base, subject_of(shared, row, row[3])}, "nodes",
    EQUAL)[2].reached
  local samples, one = reached.samples, subject_of(shared, row)
  local run = run_of(shared, samples and one:with_samples(samples) or one, opts.draws)
  local columns = measure.columns(run, 1, opts.groups)
  local times = times_of(run_of(shared, base), run, opts.batches)
  local texts = {name_of(row), tostring(methods.lines(row[1])),
    samples and tostring(samples) or "-", ("%.0f"):format(reached.nodes.mean),
    cells.ratio(times[1]), cells.ratio(times[2])}
  for _, key in ipairs{"embedding.bias", "embedding.variance", "gradient.bias",
    "gradient.variance"} do
    texts[#texts + 1] = cells.mean(student.interval(columns[key]))
  end
  return texts
end

--- methods.table(data, opts) -> text: the table in Markdown. opts: layers, hidden, batch_size,
-- steps and seed of the laboratory's network (see ladies.lab); groups of seeds, and draws of each;
-- batches that are timed; rows (methods.ROWS); tick(), called after each row.
function methods.table(data, opts)
  local shared = context.new(data, opts)
  local rows = {{"method", "lines", "samples", "distinct nodes", "sampling, of LADIES'",
    "and step, of LADIES'", "embedding: bias²", "variance", "gradient: bias²", "variance"}}
  for _, row in ipairs(opts.rows or methods.ROWS) do
    rows[#rows + 1] = row_of(shared, row, opts)
    if opts.tick then opts.tick() end
  end
  return markdown.table(rows)
end

return methods
