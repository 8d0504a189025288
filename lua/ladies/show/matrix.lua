--- Shows a Matrix: a small one as a grid, with a dot where there is no entry, and a larger one as a
-- picture of where its entries lie (a spy plot).

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local numbers = require "ladies.show.numbers"
local spy = require "ladies.report.spy"
local text_chart = require "ladies.report.text_chart"

local MOST_ROWS, MOST_COLUMNS = 12, 48      -- of a grid and of a picture
local MOST_VALUES = 2e7                     -- of more entries the range is not looked for

local function head(A)
  local text = ("Matrix %d x %d, %d entries"):format(A.n_rows, A.n_cols, A.nnz)
  if A.nnz == 0 or A.nnz > MOST_VALUES then return text end
  return text .. ", " .. numbers.range(A:entry_values())
end

-- Returns for each place of a Matrix that has entries, in an array, {row, column}, the sum of these
-- (parallel edges are several), and whether some place has several.
local function places(A)
  local rows, columns, values = A:row_of():to_table(), A:col_of():to_table(),
    A:entry_values():to_table()
  local list, sums, at = {}, {}, {}
  for k, value in ipairs(values) do
    local id = rows[k] * A.n_cols + columns[k]
    at[id] = at[id] or #list + 1
    list[at[id]] = {rows[k], columns[k]}
    sums[at[id]] = (sums[at[id]] or 0) + value
  end
  return list, sums, #list < #values
end

-- Returns the lines of the grid of a small Matrix, or nil where the grid would be too wide.
local function grid(A, width)
  local list, sums, are_added = places(A)
  local texts, cells, widest = numbers.texts(sums), {}, 1
  for _, text in ipairs(texts) do widest = math.max(widest, #text) end
  if 2 + A.n_cols * (widest + 2) > width + 2 then return nil end
  for i = 1, A.n_rows do
    cells[i] = {}
    for j = 1, A.n_cols do cells[i][j] = (" "):rep(widest - 1) .. "." end
  end
  for k, text in ipairs(texts) do
    cells[list[k][1]][list[k][2]] = (" "):rep(widest - #text) .. text
  end
  for i, row in ipairs(cells) do cells[i] = "  " .. table.concat(row, "  ") end
  if are_added then cells[#cells + 1] = "  (entries in one place are added up)" end
  return table.concat(cells, "\n")
end

local function picture(A, width)
  local n_rows = math.min(MOST_ROWS, A.n_rows)
  local n_cols = math.max(1, math.min(MOST_COLUMNS, A.n_cols, width - 4))
  local counts, n_read = spy(A, n_rows, n_cols)
  if not counts then return "" end
  local lines, most = {}, 1
  for _, row in ipairs(counts) do most = math.max(most, table.unpack(row)) end
  for i, row in ipairs(counts) do
    local signs = {}
    for j, count in ipairs(row) do signs[j] = text_chart.shade(count, most) end
    lines[i] = "  |" .. table.concat(signs) .. "|"
  end
  if n_read < A.n_rows then
    lines[#lines + 1] = ("  (from %d of the rows, evenly spaced)"):format(n_read)
  end
  return table.concat(lines, "\n")
end

return function(A, width)
  local ok, text = errors.try(core.no_grad, function()
    local is_small = A.n_rows <= MOST_ROWS and A.n_cols <= MOST_COLUMNS
    local body = A.nnz > 0 and (is_small and grid(A, width) or picture(A, width)) or ""
    return body == "" and head(A) or head(A) .. "\n" .. body
  end)
  return ok and text or tostring(A)
end
