--- Measures every method beside LADIES at equal distinct nodes: lines of its sampler, processor
-- time of its mini-batches, bias and variance of what they estimate. It makes the table of
-- doc/samplers.md.

local beside = require "experiments.bench.beside_ladies"
local cells = require "experiments.bench.cells"
local context = require "ladies.lab.context"
local markdown = require "ladies.report.markdown"
local measure = require "ladies.lab.error.measure"
local settings = require "ladies.experiment.settings"
local statistics = require "ladies.statistics"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

local WHERE = "experiments.bench.methods"

local methods = {}

-- The setting of GraphSAINT while the number of samples is looked for: the estimates of how often
-- nodes are drawn, which it makes first, take long where subgraphs are small.
local FEW_COUNTS = {coverage = 1}

--- The rows of the table: a method, its further settings, and its settings while the number of
-- samples is looked for. All are compared with the first.
methods.ROWS = {
  {"ladies"}, {"ladies", {flat = true}}, {"ladies", {debias = true}}, {"ladies", {sketch = true}},
  {"pladies"}, {"fastgcn"}, {"graphsage"}, {"labor"}, {"labor", {iterations = "converge"}},
  {"pooled"}, {"pooled", {self_nodes = "previous"}}, {"pps"}, {"vrgcn"}, {"clustergcn"}, {"rns"},
  {"graphsaint", {by = "node"}, FEW_COUNTS},
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

--- methods.lines(name): the lines of code of a method's sampler. Methods without a file of their
-- own are options of LADIES, and have its lines.
function methods.lines(name)
  local own = "ladies.samplers." .. name
  return cells.lines(package.searchpath(own, package.path) and own or "ladies.samplers.ladies")
end

local function row_of(shared, row, opts)
  local base = subject_of(shared, methods.ROWS[1])
  local reached = beside.equal(shared, {base, subject_of(shared, row, row[3])})[2].reached
  local samples, one = reached.samples, subject_of(shared, row)
  local run = beside.run(shared, samples and one:with_samples(samples) or one, opts.draws)
  local columns = measure.columns(run, 1, opts.groups)
  local times = beside.times(beside.run(shared, base), run, opts.batches)
  local texts = {name_of(row), tostring(methods.lines(row[1])),
    samples and tostring(samples) or "-", ("%.0f"):format(reached.nodes.mean),
    cells.ratio(times[1]), cells.ratio(times[2])}
  for _, key in ipairs{"embedding.bias", "embedding.variance", "gradient.bias",
    "gradient.variance"} do
    texts[#texts + 1] = cells.mean(statistics.interval(columns[key]))
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
