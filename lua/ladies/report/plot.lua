--- ladies.plot: figures of tensors and of anything else that is made of numbers, to look at and to
-- write into files. SVG and text are drawn by this program; librsvg makes PNG and PDF of the SVG.

local convert = require "ladies.report.convert"
local core = require "ladies_core"
local Figure = require "ladies.report.figure"
local errors = require "ladies.base.errors"
local layout = require "ladies.report.layout"
local options = require "ladies.base.options"
local plot_options = require "ladies.report.plot_options"
local spy_counts = require "ladies.report.spy"
local tables = require "ladies.base.tables"

local plot = {}

local MOST_CELLS, MOST_NODES, MOST_BINS, SPY = 40000, 300, 60, 64

-- The options that all functions of ladies.plot take and pass on to plot.figure.
local COMMON = {
  title = "string or nil", x = "string or nil", y = "string or nil",
  log = "none|x|y|xy or nil", x_range = "table or nil", y_range = "table or nil",
  width = "positive integer or nil", height = "positive integer or nil",
}

-- Checks the options of a function of ladies.plot. Returns them, and in a second table those of
-- COMMON, which are passed on to plot.figure.
local function take(where, given, spec)
  local own, common = options.check(where, given or {}, tables.merged(COMMON, spec)), {}
  for name in pairs(COMMON) do common[name] = own[name] end
  return own, common
end

local function column_of(rows, j)
  return tables.map(rows, function(row) return row[j] end)
end

-- Returns the columns of a matrix as arrays of numbers; a vector is a single column.
local function columns_of(where, values)
  local rows = plot_options.numbers(where, values)
  if type(rows[1]) ~= "table" then return {rows} end
  local columns = {}
  for j = 1, #rows[1] do columns[j] = column_of(rows, j) end
  return columns
end

-- Returns a series for each column of `values`, whose x are the numbers own.at or 1, 2, ...
local function series_of(where, values, own, style)
  local at = own.at and plot_options.numbers(where, own.at)
  return tables.map(columns_of(where, values), function(column, j)
    if at and #at ~= #column then
      errors.fail(("%s: there are %d numbers and %d of at"):format(where, #column, #at))
    end
    return {name = own.names and own.names[j] or "", style = style,
      points = tables.map(column, function(y, i) return {at and at[i] or i, y} end)}
  end)
end

-- Returns a series of points for each class, named after the class, with the class's number as its
-- colour.
local function series_by_class(where, points, own)
  local classes = own.classes and plot_options.numbers(where, own.classes)
  if classes and #classes ~= #points then
    errors.fail(("%s: there are %d points and %d classes"):format(where, #points, #classes))
  end
  local by_class = {}
  for i, point in ipairs(points) do
    local class = classes and math.tointeger(classes[i]) or 0
    local one = by_class[class]
    if not one then
      one = {name = classes and (own.class_names and own.class_names[class]
        or class == 0 and "no class" or ("class %d"):format(class)) or "", style = "points",
        colour = math.max(1, class == 0 and classes and 8 or class), points = {},
        labels = own.labels and {}}
      by_class[class] = one
    end
    table.insert(one.points, point)
    if own.labels then table.insert(one.labels, own.labels[i] or "") end
  end
  return tables.map(tables.sorted_keys(by_class), function(class) return by_class[class] end)
end

--- plot.figure{series = | cells =, title =, x =, y =, ...} -> Figure: shows itself, at the prompt
-- as text (in a terminal that draws pictures, as one) and in a notebook as a picture, and has
-- methods save(path), svg(), png(), pdf() and text(width, height).
-- series   array of {name = string, points = Tensor or {{x, y [, low, high]}, ...}, ...}: of a
--          vector the numbers over 1, 2, ..., of a matrix rows of 2 to 4 numbers. "" is a series
--          that the key leaves out. Further
--          axis     1 (left) or 2 (right)
--          style    "lines", "points", "both", "dashed", "bars" (from 0) or "segments" (points two
--                   by two are joined). Lines have marks, and all differ without colour
--          spread   how low and high are drawn where the points have them: "band" or "bars"
--          colour   a number, the same for what belongs together (the series' own number)
--          labels   a text for each point, written where a plot has at most 40
-- cells    instead of series, a heat map: a Tensor or an array of rows of numbers; false has none
-- x, y     what the axes are called; axes = false leaves them out
-- log      the logarithmic axes: "none", "x", "y" or "xy". Points that are not positive there, and
--          those that are not finite, are left out.
-- x_range, y_range   {low, high}; a bound that is nil (false) follows from the points
-- x_ticks  where the x axis has its numbers; x_names, y_names: texts instead of 1, 2, ...
-- width, height      in pixels
function plot.figure(given) return Figure.new("ladies.plot.figure", given) end

--- plot.lines(values: Tensor | Index | table [, {names =, at =, title =, x =, y =, log =, ...}])
-- -> Figure: a line through a vector (Tensor or array), or through each column of a matrix, with
-- `names`; at: the numbers that they stand over (1, 2, ...). For title, x, y, log, x_range,
-- y_range, width and height see ladies.plot.figure.
function plot.lines(values, given)
  local where = "ladies.plot.lines"
  local own, common = take(where, given, {names = "array of strings or nil",
    at = "Tensor or Index or table or nil"})
  common.series = series_of(where, values, own, "lines")
  return Figure.new(where, common)
end

--- plot.bars(values: Tensor | Index | table [, {names =, series =, title =, y =, ...}]) -> Figure:
-- a bar for each number of a vector, with `names`; of a matrix a group of bars for each row, whose
-- columns are `series`. For title, x, y, log, x_range, y_range, width and height see
-- ladies.plot.figure.
function plot.bars(values, given)
  local where = "ladies.plot.bars"
  local own, common = take(where, given, {names = "array of strings or nil",
    series = "array of strings or nil"})
  common.series = series_of(where, values, {names = own.series}, "bars")
  local n = common.series[1] and #common.series[1].points or 0
  if own.names and #own.names ~= n then
    errors.fail(("%s: there are %d bars and %d names"):format(where, n, #own.names))
  end
  common.x_names = own.names or tables.map(tables.repeated("", n), function(_, i)
    return tostring(i)
  end)
  return Figure.new(where, common)
end

--- plot.scatter(points: Tensor | table [, {classes =, class_names =, labels =, title =, ...}])
-- -> Figure: the rows of an n x 2 Tensor as points, with a colour and a mark for each of their
-- `classes` (an Index; 0 has none) by `class_names`; labels: a text for each. For title, x, y, log,
-- x_range, y_range, width and height see ladies.plot.figure.
function plot.scatter(points, given)
  local where = "ladies.plot.scatter"
  local own, common = take(where, given, {classes = "Index or Tensor or table or nil",
    class_names = "array of strings or nil", labels = "array of strings or nil"})
  if options.class_of(points) == "Tensor" and (points.ndim ~= 2 or points.n_cols ~= 2) then
    errors.fail(("%s: points must be n x 2, got %s"):format(where, tostring(points)))
  end
  common.series = series_by_class(where, plot_options.numbers(where, points), own)
  return Figure.new(where, common)
end

--- plot.histogram(values: Tensor | Index | table [, {bins =, title =, x =, log =, ...}]) -> Figure:
-- how many numbers of a Tensor, an Index or an array lie in each of `bins` equal parts of their
-- range (by default about twice the cube root of their number). Numbers that are not finite are
-- left out. For title, x, y, log, x_range, y_range, width and height see ladies.plot.figure.
function plot.histogram(values, given)
  local where = "ladies.plot.histogram"
  local own, common = take(where, given, {bins = "integer in [1, 10000] or nil"})
  local numbers, low, high = {}, math.huge, -math.huge
  for _, column in ipairs(columns_of(where, values)) do
    for _, x in ipairs(column) do
      if x == x and math.abs(x) < math.huge then
        numbers[#numbers + 1] = x
        low, high = math.min(low, x), math.max(high, x)
      end
    end
  end
  local bins = own.bins or math.min(MOST_BINS, math.max(1, math.ceil(2 * (#numbers) ^ (1 / 3))))
  if low == high then low, high, bins = low - 0.5, high + 0.5, 1 end
  local counts = tables.repeated(0, bins)
  for _, x in ipairs(numbers) do
    local bin = math.min(bins, (x - low) / (high - low) * bins // 1 + 1)
    bin = math.tointeger(bin)
    counts[bin] = counts[bin] + 1
  end
  common.series = {{style = "bars", points = tables.map(counts, function(count, i)
    return {low + (i - 0.5) * (high - low) / bins, count}
  end)}}
  common.y = common.y or "number"
  return Figure.new(where, common)
end

--- plot.heat_map(M: Tensor | Matrix | table [, {rows =, columns =, title =, x =, y =, ...}])
-- -> Figure: a matrix (Tensor, Matrix or array of rows, at most 40,000 numbers) as cells, the more
-- of a colour the larger, of another one below 0; with the names of its `rows` and `columns`. For
-- title, x, y, log, x_range, y_range, width and height see ladies.plot.figure.
function plot.heat_map(M, given)
  local where = "ladies.plot.heat_map"
  local own, common = take(where, given, {rows = "array of strings or nil",
    columns = "array of strings or nil"})
  local class = options.class_of(M)
  if (class == "Tensor" and M.ndim ~= 2)
    or (class == "Tensor" or class == "Matrix") and M.n_rows * M.n_cols > MOST_CELLS then
    errors.fail(("%s: it shows matrices of at most %d numbers, not %s%s"):format(where, MOST_CELLS,
      tostring(M), class == "Matrix" and "; ladies.plot.spy shows where its entries lie" or ""))
  end
  common.cells = class == "Matrix" and core.no_grad(function() return M:to_dense() end) or M
  common.x_names, common.y_names = own.columns, own.rows
  return Figure.new(where, common)
end

--- plot.spy(A [, {size = 64, title =, ...}]) -> Figure: where the entries of a Matrix lie: how many
-- are in each part of it, of `size` parts each way at most, by the square root. For title, x, y,
-- log, x_range, y_range, width and height see ladies.plot.figure.
function plot.spy(A, given)
  local where = "ladies.plot.spy"
  options.value(where, "what is drawn", A, "Matrix")
  local own, common = take(where, given, {size = {"integer in [1, 400]", SPY}})
  local counts, n = spy_counts(A, math.min(own.size, A.n_rows), math.min(own.size, A.n_cols))
  if not counts then errors.fail(where .. ": the matrix has too many entries in a row") end
  common.cells = tables.map(counts, function(row)
    return tables.map(row, function(count) return count > 0 and math.sqrt(count) end)
  end)
  common.x_range, common.y_range = {0.5, A.n_cols + 0.5}, {0.5, A.n_rows + 0.5}
  common.x = common.x or n < A.n_rows and ("from %d of the rows, evenly spaced"):format(n) or nil
  return Figure.new(where, common)
end

--- plot.network(A [, {classes =, class_names =, labels =, title =, ...}]) -> Figure: the graph of a
-- square Matrix of at most 300 nodes, drawn: a line for each entry, a point for each node, with
-- colour and mark of its class by `classes`, `class_names` and a text by `labels`. data:draw(node)
-- draws a node and its neighbours. For title, x, y, log, x_range, y_range, width and height see
-- ladies.plot.figure.
function plot.network(A, given)
  local where = "ladies.plot.network"
  options.value(where, "what is drawn", A, "Matrix")
  if A.n_rows ~= A.n_cols or A.n_rows > MOST_NODES then
    errors.fail(("%s: it draws square matrices of at most %d rows, not %s"):format(where,
      MOST_NODES, tostring(A)))
  end
  local own, common = take(where, given, {classes = "Index or Tensor or table or nil",
    class_names = "array of strings or nil", labels = "array of strings or nil"})
  local rows, columns, edges = A:row_of():to_table(), A:col_of():to_table(), {}
  for k, row in ipairs(rows) do edges[k] = {row, columns[k]} end
  local places, ends = layout(A.n_rows, edges), {}
  for k, edge in ipairs(edges) do
    ends[2 * k - 1], ends[2 * k] = places[edge[1]], places[edge[2]]
  end
  local series = series_by_class(where, places, own)
  table.insert(series, 1, {style = "segments", points = ends, colour = 8})
  common.series, common.axes = series, false
  return Figure.new(where, common)
end

-- ---------------------------------------------------------------- files

local function figure_of(where, given)
  return options.class_of(given) == "Figure" and given or Figure.new(where, given)
end

--- ladies.plot.available() -> boolean: whether librsvg's program rsvg-convert is installed, which
-- makes PNG and PDF of pictures. (SVG and text need nothing.)
function plot.available() return convert.available() end

--- plot.files(base: string, {series =, ...} | Figure) -> string[] [, string]: the plot as base.svg
-- and, with librsvg, base.png; returns the names of the files that were written, without their
-- folder, and why one is not there. The options are those of ladies.plot.figure.
function plot.files(base, given)
  local figure, files = figure_of("ladies.plot.files", given), {}
  for _, kind in ipairs{"svg", "png"} do
    local path = base .. "." .. kind
    local drawn, complaint = figure:save(path)
    if not drawn then return files, complaint end
    files[#files + 1] = path:match "[^/]*$"
  end
  return files
end

return plot
