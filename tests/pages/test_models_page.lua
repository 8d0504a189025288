--- doc/models.md: a program for every model, and a row in the table that `ladies bench models`
-- makes.

local lu = require "luaunit"
local ladies = require "ladies"
local page_blocks = require "tools.page_blocks"
local recounted = require "tools.recounted"
local registered = require "ladies.experiment.models"
local rows_of = require "experiments.bench.models"
local run_listing = require "tools.run_listing"
local shell = require "tools.shell"
local toy = require "reference.toy_data"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local page = ladies.file.read(root .. "/doc/models.md")

-- The program of the page, and the lines of each section that take the place of its model.
local program, lines, smoothing, pooling, auto = nil, {}, nil, nil, nil
for _, block in ipairs(page_blocks(page)) do
  if block.language == "lua" then
    local section = block.section or ""
    local name = section:match ": `(%w+)`$"
    if name then
      lu.assertNil(lines[name], name .. " has a second listing, which nothing runs")
      lines[name] = block.text
    elseif section == "Pooling" then
      pooling = block.text
    elseif section:find "smoothing" then
      smoothing = block.text
    elseif block.text:find("ladies.auto", 1, true) then
      auto = block.text
    else
      lu.assertNil(program, "nothing runs the listing\n" .. block.text)
      program = block.text
    end
  end
end

-- A listing that is not a program takes the place of the program's model.
local function whole(text)
  if text:find("require", 1, true) then return text end
  local made, count = program:gsub("\nlocal model = [^\n]*\n", function() return "\n" .. text end)
  lu.assertEquals(count, 1)
  return made
end

function tests.test_every_program_trains()
  local data = toy.new(true)
  lu.assertStrContains(run_listing(program, data), "test micro-F1")
  for name in pairs(registered.by_name) do
    lu.assertNotNil(lines[name], name)
    local metric = name == "embedding" and "test AUC" or "test micro-F1"      -- it predicts links
    lu.assertStrContains(run_listing(whole(lines[name]), data), metric, false, name)
  end
end

function tests.test_smoothing()
  local text = program .. smoothing .. "print(smoothed.n_rows, spread.n_rows)\n"
  lu.assertStrContains(run_listing(text, toy.new(true)), ("%d\n%d"):format(toy.NODES, toy.NODES))
end

function tests.test_pooling()
  lu.assertStrContains(run_listing(pooling, toy.new()), "Tensor 2 x 16")
end

--- The search finds a network for the small graph, and the run trains it.
function tests.test_auto()
  local folder <close> = shell.folder()
  ladies.data.save(toy.new(), folder.path .. "/toy.npz")
  local text, count = auto:gsub('{dataset = "wordnet"}', '{dataset = "./toy.npz"}, seconds = 2')
  lu.assertEquals(count, 1)
  local out = shell.succeeded(shell.run_ladies({"-e", text .. "print(result)\n"},
    {folder = folder.path}))
  lu.assertStrContains(out, "test micro-F1")
end

--- The table has a row for every model that reads nothing of edges.
function tests.test_table()
  local made = page:match "<!%-%- ladies bench models %-%->\n(.-)<!%-%- end %-%->"
  local known = {}
  for _, row in ipairs(rows_of.ROWS) do known[row[1]] = true end
  for name, entry in pairs(registered.by_name) do
    local listed = made:find("\n| " .. name .. " ") ~= nil
    lu.assertEquals({known[name] or false, listed}, {not entry.of_data, not entry.of_data}, name)
  end
end

--- The page's lines of code are today's, with or without a new measurement.
function tests.test_lines_of_code()
  lu.assertTrue(recounted(page, "ladies bench models", rows_of.lines) == page,
    "ladies tests/tools/fill_transcripts.lua doc/models.md counts anew")
end

--- The GCN beside itself takes as long; LADIES with room for all nodes is exact, neighbours are
-- not; and a model that reads no graph has no sampled errors.
function tests.test_rows()
  local text = rows_of.table(toy.new(true), {layers = 2, hidden = 8, batch_size = 10, steps = 1,
    seed = 1, groups = 3, draws = 2, batches = 3,
    rows = {{"gcn", "gcn", "gcn_conv"}, {"gat", "gat", "gat_conv"}, {"mlp", "mlp"}}})
  local rows = {}
  for line in text:gmatch "[^\n]+" do
    local row = {}
    for cell in line:gmatch "| *(.-) *%f[|]" do row[#row + 1] = cell end
    rows[#rows + 1] = row
  end
  lu.assertEquals({#rows, rows[3][1], rows[4][1], rows[5][1]}, {5, "gcn", "gat", "mlp"})
  for column = 4, 6 do lu.assertEquals(rows[3][column], "1.00 (1.00 to 1.00)") end
  lu.assertEquals({rows[4][7], rows[4][8]}, {"0", "0"})
  lu.assertStrMatches(rows[4][10], "0.0*[1-9][%d.]* ± [%d.]+")
  for column = 7, 10 do lu.assertEquals(rows[5][column], "-") end
end

return tests
