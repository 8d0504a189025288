--- Shows a model as a table of layers, shapes and parameters.

local grouped = require("ladies.base.units").grouped
local html = require "ladies.report.html"

local show_model = {}

local INDENT = "      "

local function shape(t)
  return t.ndim == 1 and tostring(t.n_rows) or ("%d x %d"):format(t.n_rows, t.n_cols)
end

-- Splits the name of a parameter: "layers.2.conv.weight" into the layer "2" and "conv.weight",
-- "head.linear.bias" into "head" and "linear.bias".
local function split(name)
  local layer, rest = name:match "^layers%.(%d+)%.(.*)$"
  if layer then return layer, rest end
  local first, below = name:match "^([^.]+)%.(.*)$"
  return first or "", below or name
end

-- Splits the text that tostring gives for a model. Returns its first line, and a table from a
-- layer's name to what the lines below say about the layer.
local function own_words(text)
  local first, of_layer = text:match "^[^\n]*", {}
  for line in text:gmatch "\n([^\n]*)" do
    local layer, words = line:match "^%s+(%w+)%s+(.*)$"
    if layer then of_layer[layer] = words end
  end
  return first, of_layer
end

-- Formats rows of three cells as lines with aligned columns; the third column, of numbers, is
-- aligned on the right.
local function aligned(rows)
  local widest, lines = {0, 0, 0}, {}
  for _, row in ipairs(rows) do
    for j = 1, 3 do widest[j] = math.max(widest[j], #row[j]) end
  end
  local function padded(text, width) return text .. (" "):rep(width - #text) end
  for i, row in ipairs(rows) do
    local what = widest[2] > 0 and padded(row[2], widest[2]) .. "  " or ""
    lines[i] = ("  %s  %s%s%s"):format(padded(row[1], widest[1]), what,
      (" "):rep(widest[3] - #row[3]), row[3])
  end
  return lines
end

-- Adds texts (`parts`) to the lines, indented and separated by commas, as many in a line as there
-- is room for.
local function add_wrapped(lines, parts, width)
  local line = INDENT .. parts[1]
  for i = 2, #parts do
    if #line + 2 + #parts[i] < width then
      line = line .. ", " .. parts[i]
    else
      lines[#lines + 1] = line .. ","
      line = INDENT .. parts[i]
    end
  end
  lines[#lines + 1] = line
end

-- Returns the lines of the table, one for each layer. The shapes of its parameters are at the end
-- of the line if they fit in all lines, and otherwise in lines below it.
local function lines_of(layers, of_layer, width)
  if #layers == 1 and layers[1].name == "" then
    return {"  " .. table.concat(layers[1].parts, ", ")}
  end
  local rows, fits = {{"layer", next(of_layer) and "what" or "", "parameters"}}, true
  for i, layer in ipairs(layers) do
    rows[i + 1] = {layer.name, of_layer[layer.name] or "", grouped(layer.size)}
  end
  local heads, lines = aligned(rows), {}
  for i, layer in ipairs(layers) do
    layer.shapes = table.concat(layer.parts, ", ")
    fits = fits and #heads[i + 1] + 2 + #layer.shapes <= width
  end
  for i, head in ipairs(heads) do
    local shapes = i == 1 and "shapes" or layers[i - 1].shapes
    lines[#lines + 1] = fits and head .. "  " .. shapes or head
    if not fits and i > 1 then add_wrapped(lines, layers[i - 1].parts, width) end
  end
  return lines
end

-- Returns what is shown of a model: its first line, an array of its layers, {name =, size =, parts
-- = a text for each parameter}, and what the model says about a layer, by the layer's name.
local function parts_of(text, parameters)
  local first, of_layer = own_words(text)
  local layers, at, size = {}, {}, 0
  for _, parameter in ipairs(parameters) do
    local name, part = split(parameter.name)
    local layer = at[name]
    if not layer then
      layer = {name = name, size = 0, parts = {}}
      at[name], layers[#layers + 1] = layer, layer
    end
    local t = parameter.tensor
    layer.size = layer.size + t.n_rows * t.n_cols
    size = size + t.n_rows * t.n_cols
    layer.parts[#layer.parts + 1] = ("%s %s%s"):format(part, shape(t),
      t.requires_grad and "" or " (frozen)")
  end
  if at.head then   -- it comes last, as in forward
    for i, layer in ipairs(layers) do
      if layer == at.head then table.insert(layers, (table.remove(layers, i))) break end
    end
  end
  if not first:find "parameters" then first = ("%s, %s parameters"):format(first, grouped(size)) end
  return first, layers, of_layer
end

--- Returns the text that shows a model: `text` is its tostring, `parameters` an array of {name =,
-- tensor =}.
function show_model.text(text, parameters, width)
  local first, layers, of_layer = parts_of(text, parameters)
  local lines = #layers > 0 and lines_of(layers, of_layer, width) or {}
  table.insert(lines, 1, first)
  return table.concat(lines, "\n")
end

--- Returns the HTML that shows a model in a notebook, from its tostring and its parameters.
function show_model.html(text, parameters)
  local first, layers, of_layer = parts_of(text, parameters)
  local rows = {}
  for i, layer in ipairs(layers) do
    rows[i] = {layer.name, of_layer[layer.name] or "", table.concat(layer.parts, ", "),
      grouped(layer.size)}
  end
  return html.line(first) .. html.table{head = {"layer", "what", "shapes", "parameters"},
    rows = rows}
end

return show_model
