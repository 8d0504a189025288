--- Tries which methods, networks and tasks can be trained by two ranks, with features or the graph
-- in shards, with seeds from parts of the graph, with features that stay in their file, and
-- validated and tested with activations in temporary files, and by which commands two ranks share
-- the work; writes the table in doc/clusters.md anew. Every cell is a run, or some, on a small
-- graph; where one is refused, the reason that its line gives stands below.
--
--   build/bin/ladies tests/tools/ranks_table.lua [ROW...]
--
-- With rows, such as ladies or gat, it prints the table of these alone.
local here = arg[0]:match "^(.*)/tools/" or "."
package.path = here .. "/?.lua;" .. package.path

local ladies = require "ladies"
local Table = require "ladies.report.table"
local files = require "tools.files"
local methods = require "ladies.experiment.methods"
local models = require "ladies.experiment.models"
local ranks = require "tools.ranks"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"

local OPTIONS = "--layers 2 --batch-size 40 --accumulate 4 --max-batches 4 --eval-every 4 "
  .. "--threads 1 --quiet"

-- The columns: name, and what is run by how many processes, 0 for one without mpirun. ROW stands
-- for the options of a row, RUN for a folder of its own. Two files that are `same` must be equal.
local COLUMNS = {
  {"ranks", {2, "train ./whole.npz ROW"}},
  {"features in shards", {2, "train ./shards ROW"}},
  {"graph in shards", {2, "train ./parts ROW"}},
  {"seeds from parts", {2, "train ./ordered ROW --seeds-from parts"}},
  {"features in a file", {0, "train ./whole.safetensors ROW --features-in file"}},
  {"inference in files", {0, "train ./whole.npz ROW --memory 20K"}},
  {"`predict`, `evaluate`", {0, "train ./whole.npz ROW --out RUN"},
    {0, "predict RUN --out alone.npz"}, {2, "predict RUN --out by-two.npz"},
    same = {"alone.npz", "by-two.npz"}},
  {"sampled", {0, "predict RUN --inference sampled --out alone.npz"},
    {2, "predict RUN --inference sampled --out by-two.npz"}, same = {"alone.npz", "by-two.npz"}},
  {"`sweep`, `compare`", {2, "sweep --datasets ./whole.npz ROW --vary lr=0.1,0.2 --runs 1 "
    .. "--out RUN-sweep"}},
}

-- The methods and networks that need data not made here: features, types and times of edges.
local NOT_TRIED = {gine = true, rgcn = true, temporal = true}

-- The rows: name, kind, options. A method goes with its default network, a network with LADIES.
local function rows()
  local list = {}
  for _, name in ipairs(tables.sorted_keys(methods.by_name)) do
    if not methods.by_name[name].no_graph and not NOT_TRIED[name] then
      list[#list + 1] = {name, "method", "--method " .. name}
    end
  end
  for _, name in ipairs(tables.sorted_keys(models.by_name)) do
    if not NOT_TRIED[name] then list[#list + 1] = {name, "network", "--model " .. name} end
  end
  list[#list + 1] = {"node_classification", "task", "--task node_classification"}
  list[#list + 1] = {"link_prediction", "task", "--task link_prediction"}
  return list
end

-- Writes the data sets into a folder.
local function write_data(folder)
  local data = ladies.generate.power_law{nodes = 1000, entries = 8000, features = 12, classes = 3,
    train = 0.4, val = 0.2, seed = 1}
  ladies.data.save(data, folder .. "/whole.npz")
  ladies.data.save(data, folder .. "/whole.safetensors")
  ladies.data.to_shards(data, folder .. "/shards", {shards = 2})
  ladies.data.to_shards(data, folder .. "/parts", {shards = 2, shard_graph = true})
  ladies.data.to_shards(data, folder .. "/ordered", {shards = 2, parts = 2, by = "ldg"})
end

-- Returns the words of a step of a column for a row.
local function words_of(row, text)
  local options = row[3]
  if text:find "^sweep" then
    local model = models.by_name[row[1]]
    options = model and model.no_graph and options .. " --methods none"
      or options:gsub("%-%-method ", "--methods ")
  end
  return shell.words((text:gsub("ROW", options .. " " .. OPTIONS)
    :gsub("RUN", "run-" .. row[2] .. "-" .. row[1])))
end

-- Runs a step; returns nil where it succeeds, or the line that it gives.
local function failure(folder, row, step)
  local n, words = step[1], words_of(row, step[2])
  local run = n == 0 and shell.run_ladies
    or function(given, opts) return ranks.run(n, given, opts) end
  local out, err, status = run(words, {folder = folder})
  if status == 0 then return nil end
  local line = err:match "ladies %l+: ([^\n]*)\n"
  return line or error(("%s: %s: status %d and no line\n%s%s"):format(row[1], step[2], status, out,
    err), 0)
end

-- Runs a cell; returns nil where it succeeds, or the line that it gives.
local function refusal(folder, row, column)
  for i = 2, #column do
    local line = failure(folder, row, column[i])
    if line then return line end
  end
  local same = column.same
  if same and files.read(folder .. "/" .. same[1]) ~= files.read(folder .. "/" .. same[2]) then
    return "other bits than those of one process"
  end
  return nil
end

-- Patterns of the reasons that messages give, without the names of what cannot be trained.
local REASONS = {"that needs the whole graph, and this one is in shards", "is adaptive: .*",
  "draws its own seeds$", "they are parts of the nodes, .*", "has no sampled inference: .*",
  "sampled inference is of nodes, .*"}

local function reason_of(line)
  for _, pattern in ipairs(REASONS) do
    if line:find(pattern) then return line:match(pattern) end
  end
  return line
end

-- Tries a row; returns its cells, in which numbers stand for reasons; new ones join the list.
local function tried(folder, row, reasons)
  local cells = {}
  for i, column in ipairs(COLUMNS) do
    local line = refusal(folder, row, column)
    local reason = line and reason_of(line)
    if reason and not reasons[reason] then
      reasons[#reasons + 1] = reason
      reasons[reason] = #reasons
    end
    cells[i] = reason and ("no (%d)"):format(reasons[reason]) or "yes"
  end
  io.stderr:write(row[2], " ", row[1], ": ", table.concat(cells, ", "), "\n")
  return cells
end

-- Makes the table, in which rows with the same cells are one, and the list of reasons below.
local function made(list)
  local folder <close>, reasons, groups, by_cells = shell.folder(), {}, {}, {}
  write_data(folder.path)
  for _, row in ipairs(list) do
    local cells = tried(folder.path, row, reasons)
    local key = table.concat(cells, "|")
    if not by_cells[key] then
      by_cells[key] = {cells = cells, kinds = {}}
      groups[#groups + 1] = by_cells[key]
    end
    local kinds = by_cells[key].kinds
    if not kinds[row[2]] then
      kinds[row[2]] = {}
      kinds[#kinds + 1] = row[2]
    end
    table.insert(kinds[row[2]], ("`%s`"):format(row[1]))
  end
  local shown = Table.new{"", table.unpack(tables.map(COLUMNS, function(one) return one[1] end))}
  for _, group in ipairs(groups) do
    local names = tables.map(group.kinds, function(kind)
      return ("%s %s"):format(kind, table.concat(group.kinds[kind], ", "))
    end)
    shown:add{table.concat(names, "; "), table.unpack(group.cells)}
  end
  local lines = {shown:markdown(), ""}
  for i, reason in ipairs(reasons) do lines[#lines + 1] = ("%d. %s"):format(i, reason) end
  return table.concat(lines, "\n")
end

local wanted = {}
for _, name in ipairs(arg) do wanted[name] = true end
local list = rows()
if arg[1] then
  local some = {}
  for _, row in ipairs(list) do if wanted[row[1]] then some[#some + 1] = row end end
  print(made(some))
  return
end
local path = here .. "/../doc/clusters.md"
local text = made(list)
local page = files.read(path)
local changed, n = page:gsub("(<!%-%- tests/tools/ranks_table.lua %-%->\n).-(\n<!%-%- end %-%->)",
  function(before, after) return before .. text .. after end)
assert(n == 1, "doc/clusters.md has no place for the table")
files.write(path, changed)
