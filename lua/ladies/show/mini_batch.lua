--- Shows a mini-batch as a funnel of layers, from the seeds at the top to the rows of the features
-- that are read.

local counted = require("ladies.base.units").counted
local grouped = require("ladies.base.units").grouped
local html = require "ladies.report.html"

local show_mini_batch = {}

local KNOWN = {blocks = true, input = true, output = true, stats = true}

-- Returns a line that names the further fields, which only some samplers set, or nil where there
-- are none.
local function others(batch)
  local names = {}
  for name in next, batch do
    if type(name) == "string" and not KNOWN[name] then names[#names + 1] = name end
  end
  table.sort(names)
  return #names > 0 and "  also: " .. table.concat(names, ", ") or nil
end

--- Describes a mini-batch in one line by its numbers of seeds and layers.
function show_mini_batch.head(batch)
  return ("mini-batch of %s, %s"):format(counted(#batch.output, "seed"),
    counted(#batch.blocks, "layer"))
end

local function features(batch)
  return batch.input and counted(#batch.input, "row") .. " of the features"
end

local COLUMNS = {"layer", "nodes", "from", "entries", "isolated"}

-- Returns the rows of the table, one for each layer as an array of texts, with the last layer
-- first.
local function rows_of(batch)
  local rows = {}
  for l = #batch.blocks, 1, -1 do
    local adj = batch.blocks[l].adj
    rows[#rows + 1] = {tostring(l), grouped(adj.n_rows), grouped(adj.n_cols), grouped(adj.nnz),
      grouped(adj:empty_rows())}
  end
  return rows
end

--- Returns the text that shows a mini-batch.
function show_mini_batch.text(batch)
  local lines = {show_mini_batch.head(batch),
    ("  %-6s %9s    %9s  %10s  %8s"):format(table.unpack(COLUMNS))}
  for _, row in ipairs(rows_of(batch)) do
    lines[#lines + 1] = ("  %-6s %9s <- %9s  %10s  %8s"):format(table.unpack(row))
  end
  lines[#lines + 1] = batch.input and "  " .. features(batch)
  lines[#lines + 1] = others(batch)
  return table.concat(lines, "\n")
end

--- Returns the HTML that shows a mini-batch in a notebook.
function show_mini_batch.html(batch)
  local below = batch.input and html.line(features(batch)) or ""
  return html.line(show_mini_batch.head(batch))
    .. html.table{head = COLUMNS, rows = rows_of(batch)} .. below
end

return show_mini_batch
