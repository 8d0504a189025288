--- Compares the samplers of doc/gallery.md, and others that were tried for it, with LADIES at equal
-- distinct nodes: the two tables of that page.

local ladies = require "ladies"
local beside = require "experiments.bench.beside_ladies"
local cells = require "experiments.bench.cells"
local connection = require "ladies.lab.nodes.connection"
local context = require "ladies.lab.context"
local measure = require "ladies.lab.error.measure"
local statistics = require "ladies.statistics"
local subject = require "ladies.lab.subject"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"

local LAYERS, HIDDEN, BATCH_SIZE, STEPS = 2, 64, 512, 5

local gallery = {}

-- ---------------------------------------------------------------- what is measured

-- The samplers of the page with what they do, and the numbers of samples that they are shown with;
-- `file` is what the page calls it where that is another name.
local SHOWN = {
  {"row_sums", "LADIES, debiased, the rows' sums those of P instead of 1", 256},
  {"in_turn", "one pass over the columns, in the order in which rows touch them", 256},
  {"pooled", "every row draws; all rows use what any of them drew", 2, file = "pooled_draws"},
  {"same_numbers", "a node has the same random number in all layers", 256},
}

-- Returns the files that a page shows, by name.
local function listings(page)
  local found = {}
  for name, text in ladies.file.read(page):gmatch "\n```lua ([%w_]+)%.lua\n(.-\n)```\n" do
    found[name] = text
  end
  return found
end

-- Methods as they are, which stand in the table of tries for comparison.
local KNOWN = {
  {name = "LADIES", what = "beside itself", method = "ladies:256"},
  {name = "own_numbers", method = "ladies:256", settings = {draw = "poisson",
    row_normalize = false}, what = "same_numbers with other numbers in each layer: PLADIES, rows "
    .. "not divided by their sums"},
}

-- Returns all tries: {name =, what =, samples =, make =} or, of KNOWN, {name =, what =, method =}.
local function tries()
  local page = listings(ladies.home() .. "/doc/gallery.md")
  local list = tables.map(SHOWN, function(one)
    local file = one.file or one[1]
    local make = assert(load(page[file], "@" .. file .. ".lua", "t"))()
    return {name = one[1], file = file, what = one[2], samples = one[3], make = make}
  end)
  table.insert(list, 1, KNOWN[1])
  list[#list + 1] = KNOWN[2]
  return tables.append(list, require "experiments.gallery.tries")
end

local function context_of(name)
  local data = ladies.data.load(name)
  if not data.train then data:split() end
  return context.new(data, {layers = LAYERS, hidden = HIDDEN, batch_size = BATCH_SIZE,
    steps = STEPS, seed = 1})
end

-- Makes the laboratory's subject from a try, or from a method {method =, settings =}.
local function subject_of(shared, one)
  local opts = {layers = LAYERS, hidden = HIDDEN, batch_size = BATCH_SIZE, seed = 1,
    settings = one.settings}
  if one.method then return subject.of("gallery", one.method, shared.data, opts) end
  return subject.of("gallery", {name = one.file or one.name, sampler = function(P, data)
    return one.make(P, {layers = LAYERS, samples = one.samples}, data)
  end}, shared.data, opts)
end

-- Multiplies the ratio of two means over groups by a ratio of seconds; the ends of the interval are
-- the products of the ends.
local function product(above, below, times)
  local value, half = statistics.ratio(above, below)
  return {mean = value * times.mean, low = math.max(0, value - half) * times.low,
    high = (value + half) * times.high}
end

-- Measures a subject beside LADIES with as many distinct nodes.
local function found_of(shared, one, opts)
  local both = beside.equal(shared, {one, subject_of(shared, {method = "ladies:256"})})
  local runs = tables.map(both, function(found)
    return beside.run(shared, found.subject, opts.draws, connection.statistics(LAYERS))
  end)
  local columns = tables.map(runs, function(run) return measure.columns(run, 1, opts.groups) end)
  local times = beside.times(runs[2], runs[1], opts.batches)[2]
  local found = {nodes = both[1].reached.nodes, against = runs[2].name,
    empty = statistics.interval(columns[1]["connection.empty." .. LAYERS])}
  for _, key in ipairs{"embedding.error", "embedding.bias", "gradient.error", "gradient.variance",
    "gradient.bias"} do
    found[key] = statistics.interval(columns[1][key])
    found[key .. " x time"] = product(columns[1][key], columns[2][key], times)
  end
  return found
end

-- ---------------------------------------------------------------- the table of tries

local function plus_minus(x) return Table.with_spread(x.mean, (x.high - x.low) / 2, "%.3f") end

-- Returns the verdict of the intervals of a ratio: "better" or "worse" on all data sets, "mixed"
-- where it is one on some and the other on others, else "open".
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

-- Returns the row of a try: its numbers on the first data set, and its products of error and time
-- on all of them.
local function row_of_try(one, list)
  local first = list[1]
  local row = {one.name .. ": " .. one.what, ("%.0f"):format(first.nodes.mean),
    ("%.0f %%"):format(100 * first.empty.mean), plus_minus(first["embedding.error"]),
    plus_minus(first["embedding.bias"]), plus_minus(first["gradient.variance"]),
    plus_minus(first["gradient.bias"])}
  for _, found in ipairs(list) do
    for _, key in ipairs(PRODUCTS) do row[#row + 1] = cells.ratio(found[key]) end
  end
  local verdicts = tables.map(PRODUCTS, function(key) return verdict_of(list, key) end)
  row[#row + 1] = ("%s, %s"):format(table.unpack(verdicts))
  return row
end

--- gallery.tries(names, opts) -> Table: a row for each try, on the data sets of these names. opts:
-- groups of seeds, draws of each, batches that are timed; ticker(n), which gives a function that is
-- called after each of n measurements.
function gallery.tries(names, opts)
  local head = {"sampler: what it does"}
  tables.append(head, tables.map({"distinct nodes", "empty rows", "embedding: error", "bias²",
    "gradient: variance", "bias²"}, function(text) return ("%s, %s"):format(text, names[1]) end))
  for _, name in ipairs(names) do
    tables.append(head, {"error × time, " .. name, "variance × time, " .. name})
  end
  head[#head + 1] = "verdict: error, variance"
  local list = tries()
  local shared, tick = tables.map(names, context_of), opts.ticker(#names * #list)
  return Table.of(head, list, function(one)
    return row_of_try(one, tables.map(shared, function(of)
      local found = found_of(of, subject_of(of, one), opts)
      tick()
      return found
    end))
  end)
end

-- ---------------------------------------------------------------- the table of graphs

-- Lists the samplers of the second table: the best try, and the known methods that it is compared
-- with, all on the same P.
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

--- gallery.graphs(names, opts) -> Table: a row for each of the best on each data set. opts are
-- those of gallery.tries.
function gallery.graphs(names, opts)
  local made = Table.new{"graph: sampler", "distinct nodes", "beside", "embedding: error × time",
    "gradient: error × time", "gradient: variance × time"}
  local list = contenders()
  local tick = opts.ticker(#names * #list)
  for _, name in ipairs(names) do
    local shared = context_of(name)
    for _, one in ipairs(list) do
      local found = found_of(shared, subject_of(shared, one), opts)
      made:add{("%s: %s"):format(name, one.title), ("%.0f"):format(found.nodes.mean),
        found.against, cells.ratio(found["embedding.error x time"]),
        cells.ratio(found["gradient.error x time"]),
        cells.ratio(found["gradient.variance x time"])}
      tick()
    end
  end
  return made
end

return gallery
