--- A Matrix: a small one as a grid, with a dot where there is no entry; of any other one a picture
-- of where its entries lie (a spy plot).

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local numbers = require "ladies.show.numbers"

local MOST_ROWS, MOST_COLUMNS = 12, 48      -- of a grid and of a picture
local MOST_VALUES = 2e7                     -- of more entries the range is not looked for
local MOST_READ = 50000                     -- entries that a picture is made of
local SHADES = {"·", ":", "+", "*", "#", "@"}

local function head(A)
  local text = ("Matrix %d x %d, %d entries"):format(A.n_rows, A.n_cols, A.nnz)
  if A.nnz == 0 or A.nnz > MOST_VALUES then return text end
  return text .. ", " .. numbers.range(A:entry_values())
end

-- The row, the column and the value of every entry, as tables.
local function entries(A)
  return A:row_of():to_table(), A:col_of():to_table(), A:entry_values():to_table()
end

-- The lines of a small one, or nil where it is too wide.
local function grid(A, width)
  local rows, columns, values = entries(A)
  local texts, cells, widest = numbers.texts(values), {}, 1
  for _, text in ipairs(texts) do widest = math.max(widest, #text) end
  if 2 + A.n_cols * (widest + 2) > width + 2 then return nil end
  for i = 1, A.n_rows do
    cells[i] = {}
    for j = 1, A.n_cols do cells[i][j] = (" "):rep(widest - 1) .. "." end
  end
  for k, text in ipairs(texts) do
    cells[rows[k]][columns[k]] = (" "):rep(widest - #text) .. text
  end
  for i, row in ipairs(cells) do cells[i] = "  " .. table.concat(row, "  ") end
  return table.concat(cells, "\n")
end

-- Some rows of A evenly over all, so many that their entries can be counted at once; their ids.
local function some_rows(A)
  local n = math.min(A.n_rows, math.max(1, MOST_READ * A.n_rows // math.max(1, A.nnz)))
  local ids = {}
  for i = 1, n do ids[i] = 1 + (i - 1) * A.n_rows // n end
  local picked = A:rows(core.index(ids))
  return picked.nnz <= 10 * MOST_READ and picked or nil, ids
end

-- How many entries fall in each of n_rows x n_cols fields; the most in one.
local function counts(A, ids, picked, n_rows, n_cols)
  local fields, most = {}, 1
  local rows, columns = picked:row_of():to_table(), picked:col_of():to_table()
  for k, row in ipairs(rows) do
    local field = (ids[row] - 1) * n_rows // A.n_rows * n_cols
      + (columns[k] - 1) * n_cols // A.n_cols
    fields[field] = (fields[field] or 0) + 1
    most = math.max(most, fields[field])
  end
  return fields, most
end

local function picture(A, width)
  local picked, ids = some_rows(A)
  if not picked then return "" end
  local n_rows = math.min(MOST_ROWS, A.n_rows)
  local n_cols = math.max(1, math.min(MOST_COLUMNS, A.n_cols, width - 4))
  local fields, most = counts(A, ids, picked, n_rows, n_cols)
  local lines = {}
  for i = 0, n_rows - 1 do
    local line = {}
    for j = 0, n_cols - 1 do
      local count = fields[i * n_cols + j]
      line[j + 1] = count and SHADES[math.ceil(math.sqrt(count / most) * #SHADES)] or " "
    end
    lines[i + 1] = "  |" .. table.concat(line) .. "|"
  end
  if #ids < A.n_rows then
    lines[#lines + 1] = ("  (from %d of the rows, evenly spaced)"):format(#ids)
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
