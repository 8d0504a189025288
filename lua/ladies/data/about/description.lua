--- Describes a data set in words, from its facts (ladies.data.about.facts): as a card, a short
-- table, or a full description.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local cut = require "ladies.base.cut"
local facts = require "ladies.data.about.facts"
local html = require "ladies.report.html"
local units = require "ladies.base.units"

local grouped = units.grouped

local description = {}

-- The most columns that are shown of a text that comes with a data set, such as its name.
local LONGEST = 500

--- Makes a text that comes with a data set, such as its name, fit for a terminal: one line of at
-- most LONGEST columns, in which nothing controls the terminal.
function description.name(text)
  -- A character has at most four bytes, so this many bytes are enough to fill the columns.
  return cut(core.printable(text:sub(1, 4 * (LONGEST + 1))), LONGEST)
end

local function edges(known)
  if known.edges == 0 then return "0" end
  local words = {grouped(known.edges), not known.directed and "each stored both ways"
    or known.kept and "directed (kept as given)" or "some with another weight than their reverse"}
  local function add(text, ...) words[#words + 1] = text:format(...) end
  if known.weights then add("weights %.4g to %.4g", table.unpack(known.weights)) end
  if known.self_loops > 0 then
    add(known.directed and "self-loops: %s" or "self-loops, stored once: %s",
      grouped(known.self_loops))
  end
  if (known.merged or 0) > 0 then add("given more than once: %s", grouped(known.merged)) end
  return table.concat(words, ", ")
end

local function entries(known)
  local silent = known.empty_rows and ", nodes that hear nobody: " .. grouped(known.empty_rows)
  return grouped(known.entries) .. (silent or "")
end

local function components(known)
  local either = known.kept and ", whichever way edges go" or ""
  if known.components == 1 then return "1: all nodes are connected" .. either end
  return ("%s, the largest with %s (%.1f %%)%s"):format(grouped(known.components),
    units.counted(known.largest, "node"), 100 * known.largest / known.nodes, either)
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
  if known.mean_classes then add("%.2f a %s", known.mean_classes, data.unit) end
  if (known.no_class or 0) > 0 then add("in none: %s", grouped(known.no_class)) end
  if known.unlabelled > 0 then add("unlabelled: %s", grouped(known.unlabelled)) end
  return table.concat(words, "; ")
end

-- Returns as text how many elements {{name, count}, ...} has, and the first few with their counts.
local function counted(list)
  local words = {}
  for i = 1, math.min(#list, 4) do
    words[i] = ("%s %s"):format(list[i][1], grouped(list[i][2]))
  end
  return ("%d: %s%s"):format(#list, table.concat(words, ", "), #list > 4 and ", ..." or "")
end

local function edge_data(known)
  local parts, words = known.edge_parts, {}
  local function add(text, ...) words[#words + 1] = text:format(...) end
  if parts.features then add("features: %d", parts.features) end
  if parts.types then add("types: %d", #parts.types) end
  if parts.times then add("times: %d to %d", table.unpack(parts.times)) end
  if parts.count ~= known.entries then add("%s edges share the entries", grouped(parts.count)) end
  if #words > 0 then return table.concat(words, "; ") end
  return (known.merged or 0) > 0 and "their ends alone; equal ones are one edge"
    or "parallel edges are kept"
end

-- The most targets that a line of the table names.
local MOST_TARGETS = 4

local function targets(data, known)
  local words, names, n = {}, data.target_names or {}, #known.targets
  for j = 1, math.min(n, MOST_TARGETS) do
    local one = known.targets[j]
    local unknown = (known.graphs and known.graphs.count or known.nodes) - one.known
    local span = ""
    if one.least then
      span = (" %.4g to %.4g, mean %.4g"):format(one.least, one.greatest, one.mean)
    end
    words[j] = ("%s%s%s"):format(names[j] or "target " .. j, span,
      unknown > 0 and ", unknown: " .. grouped(unknown) or "")
  end
  return ("%d: %s%s"):format(n, table.concat(words, "; "), n > MOST_TARGETS and "; ..." or "")
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

-- Returns the facts of a data set, all or only the quick ones, as rows of a name and its text.
local function rows_of(data, known)
  local is_whole = known.edges ~= nil
  local rows, said = {
    {"graphs", known.graphs and ("%s, of %s to %s nodes"):format(grouped(known.graphs.count),
      grouped(known.graphs.least), grouped(known.graphs.most))},
    {"nodes", is_whole and ("%s, %s isolated"):format(grouped(known.nodes),
      grouped(known.isolated)) or grouped(known.nodes)},
    {"edges", is_whole and edges(known)},
    {"entries", entries(known)},
    {"edge data", known.edge_parts and edge_data(known)},
    {"node types", known.node_types and counted(known.node_types)},
    {"components", is_whole and components(known)},
    {"features", features(known)},
    {"classes", data.labels and classes(data, known)},
    {"targets", data.targets and targets(data, known)},
    {"split", split(known)},
    {"source", data.source or "not stated"},
    {"file", data.path},
  }, {}
  for _, row in ipairs(rows) do
    if row[2] then said[#said + 1] = {row[1], description.name(row[2])} end
  end
  return said
end

-- Formats a title with rows of a name and a text below it, as lines.
local function lines_of(title, rows)
  local lines = {description.name(title)}
  for i, row in ipairs(rows) do
    lines[i + 1] = ("  %-10s %s"):format(row[1], row[2])
  end
  return table.concat(lines, "\n")
end

-- Draws a bar chart, as text, of rows {label, count}, at most `width` columns wide.
local function bars(rows, width)
  local label, number, most = 0, 0, 1
  for _, row in ipairs(rows) do
    label, number = math.max(label, utf8.len(row[1])), math.max(number, #grouped(row[2]))
    most = math.max(most, row[2])
  end
  local room, lines = math.max(1, width - label - number - 6), {}
  for i, row in ipairs(rows) do
    -- A count above 0 has a bar of at least one character.
    local length = row[2] > 0 and math.max(1, math.floor(row[2] / most * room + 0.5)) or 0
    lines[i] = ("  %s%s  %" .. number .. "s  %s"):format((" "):rep(label - utf8.len(row[1])),
      row[1], grouped(row[2]), ("#"):rep(length)):gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

-- Returns a chart of the sizes of the classes, with a blank line after it; "" without labels.
local function class_sizes(data, known, width)
  if not data.labels then return "" end
  local rows, names = {}, data.class_names or {}
  for i, size in ipairs(known.class_sizes) do
    rows[i] = {description.name(names[i] or tostring(i)), size}
  end
  return "classes\n" .. bars(rows, width) .. "\n\n"
end

-- Returns the sizes of the types of edges as such a chart; "" where edges have none.
local function type_sizes(known, width)
  local types = known.edge_parts and known.edge_parts.types
  if not types then return "" end
  local rows = {}
  for i, one in ipairs(types) do rows[i] = {description.name(one[1]), one[2]} end
  return "types of edges\n" .. bars(rows, width) .. "\n\n"
end

local function histogram(data, width)
  local degrees, rows = facts.degrees(data.graph), {}
  for i, bin in ipairs(degrees.bins) do
    local low, high, count = table.unpack(bin)
    rows[i] = {low == high and grouped(low) or ("%s-%s"):format(grouped(low), grouped(high)), count}
  end
  return ("degrees%s: mean %.2f, median %g, largest %s\n%s"):format(
    data.directed and ", edges to a node" or "", degrees.mean, degrees.median,
    grouped(degrees.most), bars(rows, width))
end

-- Returns the title and the rows of a card: the facts that take no time to compute, and how to see
-- more.
local function card(data)
  local rows = rows_of(data, facts.quick(data))
  local node = data.node_names and ("%q"):format(data.node_names[1]) or "1"
  rows[#rows + 1] = {"fields", ("data.graph, .features, %s.train, .val, .test"):format(
    (data.labels and ".labels, " or "") .. (data.targets and ".targets, " or ""))}
  rows[#rows + 1] = {"more", description.name(("data:describe(), data:show(%s)"):format(node))}
  return description.name("Dataset " .. data.name), rows
end

--- Returns the card, the facts that are known without reading the graph's entries, in lines of
-- `width` columns.
function description.card(data, width)
  local lines = {}
  for line in lines_of(card(data)):gmatch "[^\n]+" do
    lines[#lines + 1] = cut(line, width)
  end
  return table.concat(lines, "\n")
end

--- Returns the card as HTML. (In plain text JupyterLab would turn words after "data:" into links.)
function description.html(data)
  local title, rows = card(data)
  return html.line(title) .. html.table{rows = rows}
end

--- Returns a short table of what the data set holds, as text.
function description.short(data)
  return lines_of(data.name, rows_of(data, facts.of(data)))
end

--- Returns the short table, followed by the sizes of the classes and a histogram of the degrees, in
-- `width` columns.
function description.full(data, width)
  local known = facts.of(data)
  return lines_of(data.name, rows_of(data, known)) .. "\n\n" .. class_sizes(data, known, width)
    .. type_sizes(known, width) .. histogram(data, width)
end

return description
