-- How the samplers of doc/gallery.md, and others that were tried for it, do beside LADIES at equal
-- distinct nodes: the tables of that page, which --page writes into it.

local core = require "ladies_core"
local ladies = require "ladies"
local cli = require "ladies.command.cli"
local connection = require "ladies.lab.connection"
local context = require "ladies.lab.context"
local cost = require "ladies.lab.cost"
local equal = require "ladies.lab.equal"
local machine = require "ladies.base.machine"
local markdown = require "ladies.report.markdown"
local measure = require "ladies.lab.measure"
local progress = require "ladies.base.progress"
local statistics = require "ladies.report.statistics"
local student = require "ladies.lab.student"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"

-- The first groups for times and for equal numbers of nodes.
local TIMES, EQUAL = 40001, 60001

local spec = {
  name = "ladies bench gallery",
  about = "Measures the samplers of doc/gallery.md and other tries beside LADIES.",
  {"tries-on", "LIST", "string", default = "cora,pubmed", help = "data sets of the table of tries"},
  {"datasets", "LIST", "string", help = "those of the second table",
    default = "cora,citeseer,pubmed,wordnet,coauthor_cs,amazon_photo"},
  {"groups", "N", "integer in [2, inf]", default = 24, help = "sets of seeds"},
  {"draws", "N", "integer in [2, inf]", default = 4, help = "of each"},
  {"batches", "N", "positive integer", default = 60, help = "that are timed"},
  {"only", "WHICH", "tries|graphs", help = "one of the two tables"},
  {"page", "FILE", "string", help = "the page whose tables are replaced by these"},
}

local LAYERS, HIDDEN, BATCH_SIZE, STEPS = 2, 64, 512, 5

-- ---------------------------------------------------------------- what is measured

-- The samplers of the page with what they do, and the numbers of samples that they are shown with.
local SHOWN = {
  {"row_sums", "LADIES, debiased, the rows' sums those of P instead of 1", 256},
  {"in_turn", "one pass over the columns, in the order in which rows touch them", 256},
  {"pooled", "every row draws; all rows use what any of them drew", 2},
  {"same_numbers", "a node has the same random number in all layers", 256},
}

-- The files that a page shows, by name.
local function listings(page)
  local found = {}
  for name, text in ladies.file.read(page):gmatch "\n```lua ([%w_]+)%.lua\n(.-\n)```\n" do
    found[name] = text
  end
  return found
end

-- What the tries are set beside besides: methods as they are.
local KNOWN = {
  {name = "LADIES", what = "beside itself", method = "ladies:256"},
  {name = "own_numbers", method = "ladies:256", settings = {draw = "poisson",
    row_normalize = false}, what = "same_numbers with other numbers in each layer: PLADIES, rows "
    .. "not divided by their sums"},
}

-- All tries: {name =, what =, samples =, make =} or, of KNOWN, {name =, what =, method =}.
local function tries()
  local page = listings(ladies.home() .. "/doc/gallery.md")
  local list = tables.map(SHOWN, function(one)
    local make = assert(load(page[one[1]], "@" .. one[1] .. ".lua", "t"))()
    return {name = one[1], what = one[2], samples = one[3], make = make}
  end)
  table.insert(list, 1, KNOWN[1])
  list[#list + 1] = KNOWN[2]
  return tables.append(list, dofile(ladies.home() .. "/scripts/bench/gallery/tries.lua"))
end

local function context_of(name)
  local data = ladies.data.load(name)
  if not data.train then data:split() end
  return context.new(data, {layers = LAYERS, hidden = HIDDEN, batch_size = BATCH_SIZE,
    steps = STEPS, seed = 1})
end

-- The subject of a try, or of a method {method =, settings =}.
local function subject_of(shared, one)
  local opts = {layers = LAYERS, hidden = HIDDEN, batch_size = BATCH_SIZE, seed = 1,
    settings = one.settings}
  if one.method then return subject.of("gallery", one.method, shared.data, opts) end
  return subject.of("gallery", {name = one.name, sampler = function(P, data)
    return one.make(P, {layers = LAYERS, samples = one.samples}, data)
  end}, shared.data, opts)
end

-- The runs of a subject and of LADIES with as many distinct nodes.
local function runs_of(shared, one)
  local ladies_of = subject_of(shared, {method = "ladies:256"})
  local both = equal.find(shared, {one, ladies_of}, "nodes", EQUAL)
  return tables.map(both, function(found)
    local known = shared:exact(shared:propagation_of(found.subject))
    return {context = shared, sampler = shared:sampler(found.subject), known = known,
      statistics = connection.statistics(LAYERS), name = found.subject.title,
      nodes = found.reached.nodes}
  end)
end

-- Processor seconds of sampling and step of one mini-batch. Those of the clock on the wall would
-- depend on what else the machine does.
local function seconds_of(run, group)
  local seeds, rng, place = run.context:arguments(run.sampler, group, 1)
  local began = os.clock()
  local batch = run.sampler(seeds, rng, place)
  run.known:with_loss(batch, function()
    if batch.after_step then batch.after_step(batch, run.known.model) end
  end)
  return os.clock() - began
end

-- The ratio of both runs' seconds, a median over batches; they take turns.
local function time(runs, batches)
  local ratios = {}
  for i = 1, batches do
    local seconds = {}
    for _, k in ipairs(i % 2 == 0 and {1, 2} or {2, 1}) do
      seconds[k] = seconds_of(runs[k], TIMES + i)
    end
    ratios[i] = seconds[1] / seconds[2]
  end
  return cost.median(ratios)
end

-- A ratio of means over groups times one of seconds, end by end.
local function product(above, below, times)
  local value, half = statistics.ratio(above, below)
  return {mean = value * times.mean, low = math.max(0, value - half) * times.low,
    high = (value + half) * times.high}
end

-- What is found of a subject beside LADIES with as many nodes.
local function beside_ladies(shared, one, opts)
  local runs = runs_of(shared, one)
  local found = {nodes = runs[1].nodes, against = runs[2].name}
  local columns = tables.map(runs, function(run)
    run.draws = opts.draws
    return measure.columns(run, 1, opts.groups)
  end)
  local times = time(runs, opts.batches)
  for _, key in ipairs{"embedding.error", "embedding.bias", "gradient.error", "gradient.variance",
    "gradient.bias"} do
    found[key] = student.interval(columns[1][key])
    found[key .. " x time"] = product(columns[1][key], columns[2][key], times)
  end
  found.empty = student.interval(columns[1]["connection.empty." .. LAYERS])
  return found
end

-- ---------------------------------------------------------------- tables

local function plus_minus(x, format)
  format = format or "%.3f"
  return (format .. " ± " .. format):format(x.mean, (x.high - x.low) / 2)
end

local function between(x) return ("%.2f (%.2f to %.2f)"):format(x.mean, x.low, x.high) end

-- What the intervals of a ratio tell: "better" or "worse" on all data sets, "mixed" where it is one
-- on some and the other on others, else "open".
local function verdict_of(list, key)
  local better, worse = 0, 0
  for _, found in ipairs(list) do
    better = better + (found[key].high < 1 and 1 or 0)
    worse = worse + (found[key].low > 1 and 1 or 0)
  end
  return better == #list and "better" or worse == #list and "worse"
    or better > 0 and worse > 0 and "mixed" or "open"
end

local PRODUCTS = {"embedding.error x time", "gradient.variance x time"}

local function row_of_try(one, list)
  local row, first = {one.name .. ": " .. one.what}, list[1]
  tables.append(row, {("%.0f"):format(first.nodes.mean),
    ("%.0f %%"):format(100 * first.empty.mean), plus_minus(first["embedding.error"]),
    plus_minus(first["embedding.bias"]), plus_minus(first["gradient.variance"]),
    plus_minus(first["gradient.bias"])})
  for _, found in ipairs(list) do
    for _, key in ipairs(PRODUCTS) do row[#row + 1] = between(found[key]) end
  end
  local verdicts = tables.map(PRODUCTS, function(key) return verdict_of(list, key) end)
  row[#row + 1] = ("%s, %s"):format(table.unpack(verdicts))
  return row
end

-- A progress bar's step.
local function counter(total)
  local bar, done = progress.new{total = total, unit = "sampler", delay = 1}, 0
  return function()
    done = done + 1
    bar:update(done, core.clock())
    if done == total then bar:clear() end
  end
end

local function table_of_tries(names, opts)
  local head = {"sampler: what it does"}
  tables.append(head, tables.map({"distinct nodes", "empty rows", "embedding: error", "bias²",
    "gradient: variance", "bias²"}, function(text) return ("%s, %s"):format(text, names[1]) end))
  for _, name in ipairs(names) do
    tables.append(head, {"error × time, " .. name, "variance × time, " .. name})
  end
  head[#head + 1] = "verdict: error, variance"
  local rows, list = {head}, tries()
  local shared, tick = tables.map(names, context_of), counter(#names * #list)
  for _, one in ipairs(list) do
    rows[#rows + 1] = row_of_try(one, tables.map(shared, function(of)
      local found = beside_ladies(of, subject_of(of, one), opts)
      tick()
      return found
    end))
  end
  return markdown.table(rows)
end

-- The best try and what was there before, on the same P, of whom the second table tells.
local function contenders()
  local pooled = tables.by_field(tries(), "name").pooled
  local list = tables.map({2, 4}, function(samples)
    return tables.merged(pooled, {samples = samples, title = ("pooled (%d)"):format(samples)})
  end)
  return tables.append(list, {
    {method = "ladies:256", settings = {self_nodes = "previous"},
      title = 'LADIES (256), self_nodes = "previous"'},
    {method = "graphsage:4", settings = {normalize = "sym"}, title = "GraphSAGE (4)"},
    {method = "labor:4", settings = {normalize = "sym"}, title = "LABOR (4)"},
  })
end

local function table_of_graphs(names, opts)
  local rows = {{"graph: sampler", "distinct nodes", "beside", "embedding: error × time",
    "gradient: error × time", "gradient: variance × time"}}
  local list = contenders()
  local tick = counter(#names * #list)
  for _, name in ipairs(names) do
    local shared = context_of(name)
    for _, one in ipairs(list) do
      local found = beside_ladies(shared, subject_of(shared, one), opts)
      rows[#rows + 1] = {("%s: %s"):format(name, one.title), ("%.0f"):format(found.nodes.mean),
        found.against, between(found["embedding.error x time"]),
        between(found["gradient.error x time"]), between(found["gradient.variance x time"])}
      tick()
    end
  end
  return markdown.table(rows)
end

-- Puts a table between its two marks in the page.
local function put(page, name, text)
  local first, last = ("<!-- %s -->\n"):format(name), ("<!-- end of %s -->"):format(name)
  local before, after = page:find(first, 1, true), page:find(last, 1, true)
  assert(before and after, "the page has no marks of the table: " .. name)
  return page:sub(1, before + #first - 1) .. text .. "\n" .. page:sub(after)
end

-- Either table: name, function, option with its data sets.
local TABLES = {{"tries", table_of_tries, "tries_on"}, {"graphs", table_of_graphs, "datasets"}}

cli.main(spec, arg, function(opts)
  core.threads(1)
  for _, one in ipairs(TABLES) do
    local name, made, option = table.unpack(one)
    if not opts.only or opts.only == name then
      local text = ("%s\n\nMeasured on %s."):format(made(cli.words(opts[option]), opts),
      machine.measured())
      print(text .. "\n")
      if opts.page then
        ladies.file.write(opts.page, put(ladies.file.read(opts.page), name, text))
      end
    end
  end
end)
