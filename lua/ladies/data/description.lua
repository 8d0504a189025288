--- The facts of a data set in words.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local facts = require "ladies.data.facts"
local grouped = require "ladies.base.grouped"
local html = require "ladies.report.html"

local description = {}

local function edges(known)
  local words = {grouped(known.edges),
    known.directed and "directed (kept as given)" or "each stored both ways"}
  local function add(text, ...) words[#words + 1] = text:format(...) end
  if known.weights then add("weights %.4g to %.4g", table.unpack(known.weights)) end
  if known.self_loops > 0 then add("self-loops: %s", grouped(known.self_loops)) end
  if (known.merged or 0) > 0 then add("given more than once: %s", grouped(known.merged)) end
  return table.concat(words, ", ")
end

local function entries(known)
  local silent = known.empty_rows and ", nodes that hear nobody: " .. grouped(known.empty_rows)
  return grouped(known.entries) .. (silent or "")
end

local function components(known)
  if known.components == 1 then return "1: all nodes are connected" end
  return ("%s, the largest with %s nodes (%.1f %%)"):format(grouped(known.components),
    grouped(known.largest), 100 * known.largest / known.nodes)
end

local function features(known)
  local f = known.features
  local values = f.values and (", values %.4g to %.4g"):format(table.unpack(f.values)) or ""
  if f.dtype then values = (", %s in the file"):format(f.dtype) end
  if not f.sparse then return ("%s, dense%s"):format(grouped(f.columns), values) end
  return ("%s, sparse: %s %s, %.2f %%%s"):format(grouped(f.columns), grouped(f.stored),
    f.values and "entries" or "ones", 100 * f.density, values)
end

local function classes(data, known)
  local names, more = data.class_names or {}, ""
  if #names > 4 then names, more = table.move(names, 1, 4, 1, {}), ", ..." end
  local words = {("%d%s%s%s"):format(data.classes, #names > 0 and ": " or "",
    table.concat(names, ", "), more)}
  local function add(text, ...) words[#words + 1] = text:format(...) end
  if known.mean_classes then add("%.2f a node", known.mean_classes) end
  if (known.no_class or 0) > 0 then add("in none: %s", grouped(known.no_class)) end
  if known.unlabelled > 0 then add("unlabelled: %s", grouped(known.unlabelled)) end
  return table.concat(words, "; ")
end

local function split(known)
  local parts = {}
  for _, part in ipairs(checks.SPLIT) do
    if known.split[part] then
      parts[#parts + 1] = ("%s %s"):format(grouped(known.split[part]), part)
    end
  end
  return #parts > 0 and table.concat(parts, ", ") or "none (see ladies.data.split)"
end

-- What is known, as rows of a name and words, for all facts or the quick ones.
local function rows_of(data, known)
  local is_whole = known.edges ~= nil
  local rows, said = {
    {"nodes", is_whole and ("%s, %s isolated"):format(grouped(known.nodes),
      grouped(known.isolated)) or grouped(known.nodes)},
    {"edges", is_whole and edges(known)},
    {"entries", entries(known)},
    {"components", is_whole and components(known)},
    {"features", features(known)},
    {"classes", classes(data, known)},
    {"split", split(known)},
    {"source", data.source or "not stated"},
    {"file", data.path},
  }, {}
  for _, row in ipairs(rows) do
    if row[2] then said[#said + 1] = row end
  end
  return said
end

-- Rows below a title, a line each, whatever names of classes or files are in them.
local function lines_of(title, rows)
  local lines = {core.printable(title)}
  for i, row in ipairs(rows) do
    lines[i + 1] = core.printable(("  %-10s %s"):format(row[1], row[2]))
  end
  return table.concat(lines, "\n")
end

-- Rows of {label, count} with a bar each, `width` columns at most.
local function bars(rows, width)
  local label, number, most = 0, 0, 1
  for _, row in ipairs(rows) do
    label, number = math.max(label, utf8.len(row[1])), math.max(number, #grouped(row[2]))
    most = math.max(most, row[2])
  end
  local room, lines = math.max(1, width - label - number - 6), {}
  for i, row in ipairs(rows) do
    -- What is there is seen, however little.
    local length = row[2] > 0 and math.max(1, math.floor(row[2] / most * room + 0.5)) or 0
    lines[i] = ("  %s%s  %" .. number .. "s  %s"):format((" "):rep(label - utf8.len(row[1])),
      row[1], grouped(row[2]), ("#"):rep(length)):gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

local function class_sizes(data, known, width)
  local rows, names = {}, data.class_names or {}
  for i, size in ipairs(known.class_sizes) do
    rows[i] = {core.printable(names[i] or tostring(i)), size}
  end
  return "classes\n" .. bars(rows, width)
end

local function histogram(data, width)
  local degrees, rows = facts.degrees(data.graph), {}
  for i, bin in ipairs(degrees.bins) do
    local low, high, count = table.unpack(bin)
    rows[i] = {low == high and grouped(low) or ("%s-%s"):format(grouped(low), grouped(high)), count}
  end
  return ("degrees: mean %.2f, median %g, largest %s\n%s"):format(degrees.mean, degrees.median,
    grouped(degrees.most), bars(rows, width))
end

-- The title and the rows of what is known of the data set at once, and how to see more.
local function card(data)
  local rows = rows_of(data, facts.quick(data))
  local node = data.node_names and ("%q"):format(data.node_names[1]) or "1"
  rows[#rows + 1] = {"fields", "data.graph, .features, .labels, .train, .val, .test"}
  rows[#rows + 1] = {"more", ("data:describe(), data:show(%s)"):format(node)}
  return "Dataset " .. data.name, rows
end

--- A card of what is known of the data set at once, without a look at its graph, in lines of
-- `width` columns.
function description.card(data, width)
  local lines = {}
  for line in lines_of(card(data)):gmatch "[^\n]+" do
    local is_long = utf8.len(line) > width
    lines[#lines + 1] = is_long and line:sub(1, utf8.offset(line, width - 2) - 1) .. "..." or line
  end
  return table.concat(lines, "\n")
end

--- The same card as HTML. JupyterLab makes no links of what stands behind "data:" there, as it does
-- of texts.
function description.html(data)
  local title, rows = card(data)
  return html.line(title) .. html.table{rows = rows}
end

--- A short table of what the data set holds, as text.
function description.short(data)
  return lines_of(data.name, rows_of(data, facts.of(data)))
end

--- The same, then the sizes of the classes and a histogram of the degrees, in `width` columns.
function description.full(data, width)
  local known = facts.of(data)
  return table.concat({lines_of(data.name, rows_of(data, known)), class_sizes(data, known, width),
    histogram(data, width)}, "\n\n")
end

return description
