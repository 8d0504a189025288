--- Shows a Tensor: its shape, its range, and a grid of its first rows and columns.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local html = require "ladies.report.html"
local numbers = require "ladies.show.numbers"

local show_tensor = {}

local MOST_ROWS, MOST_COLUMNS = 10, 40
local MOST_CELLS = 12     -- columns of a table
local MOST_ELEMENTS = 1e9   -- of larger ones, which may lie in a file, the range is not looked for

local function head(t)
  local parts = {t.ndim == 1 and ("Tensor %d"):format(#t)
    or ("Tensor %d x %d"):format(t.n_rows, t.n_cols)}
  local n = t.n_rows * t.n_cols
  if n > 0 and n <= MOST_ELEMENTS then parts[2] = numbers.range(t) end
  if t.is_parameter then
    parts[#parts + 1] = t.requires_grad and "parameter" or "parameter, frozen"
  end
  return table.concat(parts, ", ")
end

local function vector(t, width)
  return numbers.ends(#t, function(first, last)
    return numbers.texts(t:slice(first, last):to_table())
  end, width)
end

-- Formats rows of texts as lines, with as many columns as there is room for.
local function grid(rows, n_cols, width)
  local widest = 1
  for _, row in ipairs(rows) do
    for _, text in ipairs(row) do widest = math.max(widest, #text) end
  end
  local shown = math.min(#rows[1], math.max(1, (width - 2) // (widest + 2)))
  if shown < n_cols then shown = math.max(1, math.min(shown, (width - 7) // (widest + 2))) end
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for j = 1, shown do cells[j] = (" "):rep(widest - #row[j]) .. row[j] end
    if shown < n_cols then cells[shown + 1] = "..." end
    lines[i] = "  " .. table.concat(cells, "  ")
  end
  return lines
end

-- Returns the first rows of a matrix as arrays of texts, with at most so many columns.
local function corner_of(t, most_columns)
  local n_rows = t.n_rows <= MOST_ROWS + 1 and t.n_rows or MOST_ROWS
  local n_cols = math.min(t.n_cols, most_columns)
  local corner = t:slice(1, n_rows):slice_cols(1, n_cols):to_table()
  local all, rows = {}, {}
  for _, row in ipairs(corner) do table.move(row, 1, n_cols, #all + 1, all) end
  local texts = numbers.texts(all)
  for i = 1, n_rows do rows[i] = table.move(texts, (i - 1) * n_cols + 1, i * n_cols, 1, {}) end
  return rows
end

local function matrix(t, width)
  local rows = corner_of(t, MOST_COLUMNS)
  local lines = grid(rows, t.n_cols, width)
  if #rows < t.n_rows then lines[#lines + 1] = "  ..." end
  return table.concat(lines, "\n")
end

--- Returns the text that shows a Tensor; for one that is closed, its tostring.
function show_tensor.text(t, width)
  local ok, text = errors.try(core.no_grad, function()
    local text = head(t)
    if t.n_rows * t.n_cols == 0 then return text end
    return text .. "\n" .. (t.ndim == 1 and vector or matrix)(t, width)
  end)
  return ok and text or tostring(t)
end

-- Returns an HTML table of the first rows and columns of a matrix, labelled with their numbers.
local function html_of(t)
  local rows, columns = corner_of(t, MOST_CELLS), {""}
  local n_cols = #rows[1]
  for j = 1, n_cols do columns[j + 1] = tostring(j) end
  for i, row in ipairs(rows) do table.insert(row, 1, tostring(i)) end
  if #rows < t.n_rows then
    local dots = {}
    for j = 1, n_cols + 1 do dots[j] = "..." end
    rows[#rows + 1] = dots
  end
  if n_cols < t.n_cols then
    for _, row in ipairs(rows) do row[#row + 1] = "..." end
    columns[#columns + 1] = "..."
  end
  return html.line(head(t)) .. html.table{head = columns, rows = rows}
end

--- Returns the HTML that shows a matrix in a notebook; nil for a vector, and for a Tensor that has
-- no elements or is closed.
function show_tensor.html(t)
  local ok, text = errors.try(core.no_grad, function()
    return t.ndim == 2 and t.n_rows * t.n_cols > 0 and html_of(t) or nil
  end)
  return ok and text or nil
end

return show_tensor
