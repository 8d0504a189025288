--- Checks the options of ladies.plot and turns their tensors into plain numbers, for all that draw
-- a plot.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local plot_options = {}

local SPEC = {
  series = "table or nil",
  cells = "Tensor or table or nil",
  title = {"string", ""},
  x = {"string", ""},
  y = {"string", ""},
  log = {"none|x|y|xy", "none"},
  axes = {"boolean", true},
  x_range = "table or nil",
  x_ticks = "array of numbers or nil",
  x_names = "array of strings or nil",
  y_range = "table or nil",
  y_names = "array of strings or nil",
  width = "positive integer or nil",
  height = "positive integer or nil",
}

local SERIES = {
  name = {"string", ""},
  points = "Tensor or table",
  axis = {"integer in [1, 2]", 1},
  style = {"lines|points|both|dashed|bars|segments", "lines"},
  spread = {"band|bars", "band"},
  colour = "positive integer or nil",
  labels = "array of strings or nil",
}

-- Returns an array of a tensor's rows, each an array of numbers; for a vector, an array of its
-- numbers.
local function rows_of(t)
  return core.no_grad(function() return t:to_table() end)
end

--- plot_options.numbers(where, values) -> table: returns the numbers of a vector (a Tensor, an
-- Index or an array) as an array, those of a matrix as an array of rows.
function plot_options.numbers(where, values)
  local class = options.class_of(values)
  if class == "Tensor" or class == "Index" then return rows_of(values) end
  return options.value(where, "what is drawn", values, "Tensor or Index or table")
end

-- Returns points as an array of {x, y [, low, high]}; for a vector, x is the place of each number
-- and y the number.
local function points_of(where, given)
  local list = plot_options.numbers(where, given)
  if options.class_of(given) == "Tensor" and given.ndim == 2
    and (given.n_cols < 2 or given.n_cols > 4) then
    errors.fail(("%s: points must have 2 to 4 columns (x, y, low, high), got %d x %d"):format(where,
      given.n_rows, given.n_cols))
  end
  return tables.map(list, function(point, i)
    return type(point) == "number" and {i, point} or point
  end)
end

-- The largest bound of an axis, beyond which its numbers are not told apart.
local LARGEST = 1e15

local function check_range(where, name, range, is_log)
  if not range then return end
  for i = 1, 2 do
    local bound = range[i]
    if bound and (not math.type(bound) or bound ~= bound or math.abs(bound) > LARGEST) then
      errors.fail(("%s: %s must be {low, high}, two numbers up to 1e15, or false for one that "
        .. "follows from what is drawn"):format(where, name))
    elseif bound and is_log and bound <= 0 then
      errors.fail(("%s: %s of a logarithmic axis must be above 0, got %g"):format(where, name,
        bound))
    end
  end
  if range[1] and range[2] and range[1] >= range[2] then
    errors.fail(("%s: %s must ascend, got %g to %g"):format(where, name, range[1], range[2]))
  end
end

--- plot_options.cells(where, given) -> table: returns the cells of a heat map as rows of numbers,
-- with false for a cell without a number; for other values an error that names the function
-- `where`.
function plot_options.cells(where, given)
  local rows = plot_options.numbers(where, given)
  for i, row in ipairs(rows) do
    if type(row) ~= "table" or #row ~= #rows[1] then
      errors.fail(("%s: cells must be rows of one length; row %d is another"):format(where, i))
    end
    for j, value in ipairs(row) do
      if value and not math.type(value) then
        errors.fail(("%s: cells must be numbers, or false; row %d, column %d is a %s"):format(where,
          i, j, type(value)))
      end
    end
  end
  return rows
end

--- plot_options.check(where, given) -> options: checks the options of a plot and returns them with
-- their defaults; an error names the function `where` and says what is wrong.
function plot_options.check(where, given)
  local opts = options.check(where, given, SPEC)
  if (opts.series == nil) == (opts.cells == nil) then
    errors.fail(where .. ": a plot has either series or cells")
  end
  for _, axis in ipairs{"x", "y"} do
    local name = axis .. "_range"
    check_range(where, name, opts[name], (opts.log or "none"):find(axis, 1, true))
  end
  opts.cells = opts.cells and plot_options.cells(where, opts.cells)
  opts.series = tables.map(opts.series or {}, function(one)
    local series = options.check(where .. ": a series", one, SERIES)
    series.points = points_of(where, series.points)
    return series
  end)
  return opts
end

return plot_options
