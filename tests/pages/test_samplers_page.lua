--- doc/samplers.md: a section for every method, with its options and a program that trains with it;
-- and a row in the table that `ladies bench methods` makes.

local lu = require "luaunit"
local ladies = require "ladies"
local cells = require "experiments.bench.cells"
local in_turns = require "experiments.bench.in_turns"
local methods = require "ladies.experiment.methods"
local page_blocks = require "tools.page_blocks"
local recounted = require "tools.recounted"
local rows_of = require "experiments.bench.methods"
local run_listing = require "tools.run_listing"
local shell = require "tools.shell"
local toy = require "reference.toy_data"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local page = ladies.file.read(root .. "/doc/samplers.md")

-- The program of the page, and the lines of each section that take the place of its sampler.
local program, lines = nil, {}
for _, block in ipairs(page_blocks(page)) do
  if block.language == "lua" then
    local name = block.section and block.section:match ": `(%w+)`$"
    lu.assertNil(name and lines[name] or not name and program or nil,
      "a second listing of a section, which nothing runs:\n" .. block.text)
    if name then lines[name] = block.text else program = block.text end
  end
end

-- The methods that have a sampler; with `of_nodes` without those that are for tasks of edges alone.
local function names(of_nodes)
  local list = {}
  for name, entry in pairs(methods.by_name) do
    if not (entry.no_graph or of_nodes and entry.in_time) then list[#list + 1] = name end
  end
  return list
end

function tests.test_every_program_trains()
  local data = toy.new(true)
  local own = "\nlocal sampler = [^\n]*\n"
  lu.assertStrContains(run_listing(program, data), "test micro-F1")
  local all = names(true)
  all[#all + 1] = "layerwise"                     -- the space that some of them are points of
  for _, name in ipairs(all) do
    lu.assertNotNil(lines[name], name)
    local text, count = program:gsub(own, function() return "\n" .. lines[name] end)
    lu.assertEquals(count, 1)
    lu.assertStrContains(run_listing(text, data), "test micro-F1", false, name)
  end
end

--- The sampler of edges with times draws what is earlier, for a node at two times.
function tests.test_times()
  local out = shell.succeeded(shell.run_ladies{"-e", lines.temporal})
  lu.assertStrContains(out, "mini-batch of 3 seeds, 2 layers")
end

function tests.test_every_option_is_there()
  for _, name in ipairs(names()) do
    for _, setting in ipairs(methods.by_name[name].settings) do
      local key = type(setting) == "table" and setting[1] or setting
      lu.assertStrContains(page, "--" .. key:gsub("_", "-"), false, name)
    end
  end
end

--- The table has a row for every method.
function tests.test_table()
  local made = page:match "<!%-%- ladies bench methods %-%->\n(.-)<!%-%- end %-%->"
  local known = {}
  for _, row in ipairs(rows_of.ROWS) do known[row[1]] = true end
  for _, name in ipairs(names(true)) do
    lu.assertTrue(known[name], name)
    lu.assertTrue(made:find("\n| " .. name .. "[ ,]") ~= nil, name)
  end
end

--- The page's lines of code are today's, with or without a new measurement.
function tests.test_lines_of_code()
  local made = recounted(page, "ladies bench methods", rows_of.lines)
  lu.assertTrue(made == page, "ladies tests/tools/fill_transcripts.lua doc/samplers.md counts anew")
  local other = page:gsub("(\n| ladies  *|  *)%d+", "%177")
  lu.assertFalse(other == page)
  lu.assertTrue(recounted(other, "ladies bench methods", rows_of.lines) == page)
end

--- The page and the help both say where a sampler differs from its paper.
function tests.test_what_papers_have_besides()
  for name, words in pairs{asgcn = {"equation 9", "no skip connections"},
      shadow = {"variant with `?k`? neighbours", "personalised PageRank"}} do
    local section = page:match(": `" .. name .. "`\n(.-)\n## "):gsub("%s+", " ")
    local help = ladies.help_text("ladies.samplers." .. name):gsub("%s+", " ")
    for _, text in ipairs(words) do
      lu.assertStrMatches(section, ".*" .. text .. ".*")
      lu.assertStrMatches(help, ".*" .. text .. ".*")
    end
  end
end

-- ---------------------------------------------------------------- how it is made

--- LADIES beside itself takes as long and is as far off; whole neighbourhoods are exact.
function tests.test_rows()
  local data = toy.new(true)
  local ticks = 0
  local text = rows_of.table(data, {layers = 2, hidden = 4, batch_size = 10, steps = 1, seed = 1,
    groups = 3, draws = 2, batches = 3, tick = function() ticks = ticks + 1 end,
    rows = {{"ladies"}, {"graphsaint", {by = "node"}, {coverage = 1}}, {"full"}}})
  local rows = {}
  for line in text:gmatch "[^\n]+" do
    local row = {}
    for cell in line:gmatch "| *(.-) *%f[|]" do row[#row + 1] = cell end
    rows[#rows + 1] = row
  end
  lu.assertEquals({#rows, ticks}, {5, 3})
  lu.assertEquals({rows[3][1], rows[4][1], rows[5][1]}, {"ladies", "graphsaint, by node", "full"})
  lu.assertEquals(rows[3][2], tostring(cells.lines "ladies.samplers.ladies"))
  lu.assertStrMatches(rows[3][5], "%d%.%d%d %(.*")
  lu.assertStrMatches(rows[5][7] .. rows[5][8], "%-?0[%d. ±]*%-?0[%d. ±]*")
end

function tests.test_cells()
  local mean = cells.mean
  lu.assertEquals(mean{mean = 0.01234, low = 0.0119, high = 0.0128}, "0.0123 ± 0.0004")
  lu.assertEquals(mean{mean = 1234, low = 1200, high = 1268}, "1234 ± 34")
  lu.assertEquals(mean{mean = -0.5, low = -0.6, high = -0.4}, "-0.500 ± 0.100")
  lu.assertEquals({mean{mean = 0, low = 0, high = 0}, mean(nil)}, {"0", "-"})
  lu.assertEquals(cells.ratio{mean = 1.234, low = 1, high = 2}, "1.23 (1.00 to 2.00)")
  local folder = package.searchpath("ladies.base.units", package.path)
  lu.assertEquals(cells.lines("ladies.base.units", "ladies.base.units"),
    2 * select(2, ("\n" .. ladies.file.read(folder)):gsub("\n[^%-\n][^\n]*", "")))
end

--- Medians of ratios to the first, in one order and the other, after a round to warm up.
function tests.test_in_turns()
  local calls = {}
  local function of(name, factor)
    return function(round)
      calls[#calls + 1] = name .. round
      return {factor * (round + 1), 2}
    end
  end
  local found = in_turns({of("a", 2), of("b", 6)}, 3)
  lu.assertEquals(table.concat(calls, " "), "a0 b0 b1 a1 a2 b2 b3 a3")
  lu.assertEquals({found[1][1].mean, found[2][1].mean, found[2][2].mean, found[2][1].n},
    {1, 3, 1, 3})
end

return tests
