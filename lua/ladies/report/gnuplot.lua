--- Plots through gnuplot: as PNG, as sixels, and as text for a terminal. Without gnuplot nothing is
-- drawn, and the caller is told so.

local core = require "ladies_core"
local drawable = require "ladies.report.drawable"
local palette = require "ladies.report.palette"
local tables = require "ladies.base.tables"

local gnuplot = {}

local COLOURS = palette.light()
local MOST_MARKS = 8      -- on a line
local WIDTH, HEIGHT, NAME = 720, 420, 24     -- pixels, of a picture and of a name beside an axis

--- Whether gnuplot is installed.
function gnuplot.available() return core.process.exists "gnuplot" end

-- A text as gnuplot shows it: in double quotes, with all that is no letter or blank as the number
-- of its byte, so that nothing in it can be taken for more than text. (Digits too: gnuplot would
-- take them for more of the number before.)
local function quoted(text)
  return '"' .. core.printable(text):gsub("[^%a ]", function(c)
    return ("\\%03o"):format(c:byte())
  end) .. '"'
end

local function data_block(name, lines)
  return ("$%s << EOD\n%s\nEOD"):format(name, table.concat(lines, "\n"))
end

-- ---------------------------------------------------------------- series

local function block_of(series, i)
  local is_segments, lines = series.style == "segments", {}
  local middle = series.left and (series.left + series.right) / 2 or 0
  for k, p in ipairs(series.points) do
    lines[#lines + 1] = ("%.9g %.9g %.9g %.9g %s"):format(p[1] + middle, p[2], p[3], p[4],
      quoted(series.labels and series.labels[p.i] or ""))
    if is_segments and k % 2 == 0 then lines[#lines + 1] = "" end
  end
  return data_block("s" .. i, lines)
end

-- The marks by number, in the order of those of ladies.report.svg.
local MARKS = {7, 5, 9, 2, 13, 1, 11, 4}

local function style_of(series)
  local mark = MARKS[(series.number - 1 + (series.number - 1) // palette.N) % #MARKS + 1]
  local every = math.max(1, #series.points // MOST_MARKS)
  return ({
    lines = ("with linespoints lw 2 pt %d ps 0.8 pi %d"):format(mark, every),
    points = ("with points pt %d ps 0.9"):format(mark),
    both = ("with linespoints lw 2 pt %d ps 0.8"):format(mark),
    dashed = "with lines lw 1.5 dt 2",
    bars = "with boxes fs solid 0.8 noborder",
    segments = "with lines lw 1",
  })[series.style]
end

-- Text has no widths, dashes or colours.
local TEXT_STYLES = {
  lines = "with lines", points = "with points", both = "with linespoints", dashed = "with dots",
  bars = "with boxes", segments = "with dots",
}

-- gnuplot's words for one series, whose points are the block $s<i>: its spread, its line, its
-- texts.
local function curves_of(series, i, text)
  local axes = ("axes x1y%d"):format(series.axis)
  local title = series.name == "" and "notitle" or "title " .. quoted(series.name)
  local list = {}
  if text then
    list[1] = ("$s%d using 1:2 %s %s %s"):format(i, axes, TEXT_STYLES[series.style], title)
  else
    local colour = series.style == "segments" and "lc rgb '#a0a8b0'"
      or ("lc rgb '%s'"):format(COLOURS[palette.of(series.number)])
    if series.points[1].spread then
      list[1] = ("$s%d using 1:%s %s %s notitle"):format(i, series.spread == "band" and "3:4 with "
        .. "filledcurves fs transparent solid 0.18 noborder" or "2:3:4 with yerrorbars pt 0",
        colour, axes)
    end
    list[#list + 1] = ("$s%d using 1:2 %s %s %s %s"):format(i, style_of(series), colour, axes,
      title)
  end
  if series.written then
    list[#list + 1] = ("$s%d using 1:2:5 with labels offset 0,0.8 notitle"):format(i)
  end
  return list
end

local function add_series(add, opts, text)
  local curves, y2 = {}, nil
  for i, series in ipairs(drawable.series(opts)) do
    add(block_of(series, i))
    tables.append(curves, curves_of(series, i, text))
    if series.axis == 2 then y2 = series.name end
    if series.style == "bars" then
      add(("set boxwidth %.9g absolute"):format(0.96 * (series.right - series.left)))
      if not opts.log:find "y" then add "set yrange [*<0:0<*]" end
    end
  end
  if y2 then
    add "set y2tics\nset ytics nomirror"
    -- As text it would lie across the numbers.
    if not text then add(("set y2label %s"):format(quoted(y2))) end
  end
  return curves
end

-- ---------------------------------------------------------------- cells

local function add_cells(add, opts)
  if not opts.cells[1] or #opts.cells[1] == 0 then return {} end
  local lines, n_rows, n_cols = {}, #opts.cells, #opts.cells[1]
  for i, row in ipairs(opts.cells) do
    lines[i] = table.concat(tables.map(row, function(value)
      return value and value == value and ("%.9g"):format(value) or "NaN"
    end), " ")
  end
  add(data_block("cells", lines))
  local most = drawable.most(opts.cells)
  local x, y = opts.x_range or {0.5, n_cols + 0.5}, opts.y_range or {0.5, n_rows + 0.5}
  add(("set palette defined (-1 '%s', 0 'white', 1 '%s')\nset cbrange [%.9g:%.9g]"):format(
    COLOURS[2], COLOURS[1], -math.max(most, 1e-30), math.max(most, 1e-30)))
  add "unset colorbox\nset datafile missing \"NaN\""
  add(("set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]"):format(x[1], x[2], y[2], y[1]))
  local dx, dy = (x[2] - x[1]) / n_cols, (y[2] - y[1]) / n_rows
  return {("$cells matrix using (%.9g+%.9g*($1+0.5)):(%.9g+%.9g*($2+0.5)):3 with image notitle")
    :format(x[1], dx, y[1], dy)}
end

-- ---------------------------------------------------------------- drawing

local function range_of(name, range)
  local function bound(x) return x and ("%.9g"):format(x) or "*" end
  return ("set %srange [%s:%s]"):format(name, bound(range[1]), bound(range[2]))
end

-- The names for which there is room along so many pixels. (gnuplot takes a percent sign there for a
-- number's format.)
local function names_of(axis, names, pixels, style)
  local list, step = {}, math.ceil(#names * NAME / pixels)
  for i = 1, #names, step do
    list[#list + 1] = ("%s %d"):format(quoted((names[i]:gsub("%%", "%%%%"))), i)
  end
  return ("set %stics (%s) %s"):format(axis, table.concat(list, ", "), style)
end

local function add_axes(add, opts, text)
  local log_x, log_y = opts.log:find "x", opts.log:find "y"
  if opts.log ~= "none" then add("set logscale " .. opts.log) end
  if log_x then add "set format x '%g'" end
  if log_y then add "set format y '%g'" end
  if opts.x_ticks then add(("set xtics (%s)"):format(table.concat(opts.x_ticks, ", "))) end
  if opts.x_names then
    add(names_of("x", opts.x_names, opts.width or WIDTH, text and "" or "rotate by -45"))
    add(("set xrange [0.5:%d.5]"):format(#opts.x_names))
  end
  if opts.y_names then add(names_of("y", opts.y_names, opts.height or HEIGHT, "")) end
  if not opts.cells and opts.x_range then add(range_of("x", opts.x_range)) end
  if not opts.cells and opts.y_range then add(range_of("y", opts.y_range)) end
  if not opts.axes then
    add "unset border\nunset xtics\nunset ytics\nset offsets graph 0.12, 0.12, 0.05, 0.05"
  end
  if not text and not opts.cells and opts.axes then add "set grid lc rgb '#e0e0e0'" end
end

-- gnuplot's commands that draw the plot on a terminal of it into a file; nil where there is nothing
-- to draw. As `text` it has no colours.
local function commands(opts, terminal, output, text)
  local parts = {}
  local function add(line) parts[#parts + 1] = line end
  add("set terminal " .. terminal)
  add "set termoption noenhanced"
  add("set output " .. quoted(output))
  -- An entry higher than it must be, so that the key stays clear of the axis' name.
  add "set key outside bottom center horizontal height 1"
  add(("set title %s\nset xlabel %s\nset ylabel %s"):format(
    quoted(opts.title), quoted(opts.x), quoted(opts.y)))
  local curves = (opts.cells and add_cells or add_series)(add, opts, text)
  if #curves == 0 then return nil end
  add_axes(add, opts, text)
  add("plot " .. table.concat(curves, ", "))
  return table.concat(parts, "\n") .. "\n"
end

-- A new temporary file, removed when the variable that holds it goes.
local function temporary()
  local path = os.tmpname()
  return setmetatable({path = path}, {__close = function() os.remove(path) end})
end

-- Runs gnuplot on the plot's commands; returns what it drew, or nil and why there is no plot. It
-- reads a script and writes a picture of ours, whatever the user's file is called.
local function draw(opts, terminal, text)
  if not gnuplot.available() then return nil, "gnuplot is not installed" end
  local script <close> = temporary()
  local picture <close> = temporary()
  local log <close> = temporary()
  local list = commands(opts, terminal, picture.path, text)
  if not list then return nil, "there is nothing to draw" end
  core.file.write(script.path, list)
  local process <close> = core.process.start({"gnuplot", "-d", script.path}, {log = log.path})
  if process:wait() == 0 then return core.file.read(picture.path) end
  return nil, "gnuplot: " .. core.file.read(log.path)
end

--- The plot of checked options as the bytes of a PNG file, of twice as many pixels each way, so
-- that it is sharp; or nil and why there is none.
function gnuplot.png(opts, width, height)
  return draw(opts, ("pngcairo size %d,%d background 'white' font 'sans,12' fontscale 2 "
    .. "linewidth 2 pointscale 2"):format(2 * width, 2 * height))
end

--- The same as sixels, for terminals that draw them.
function gnuplot.sixels(opts, width, height)
  return draw(opts, ("sixelgd size %d,%d background '#ffffff' font 'sans,11' truecolor"):format(
    width, height))
end

--- The same as text of so many columns and lines.
function gnuplot.text(opts, width, height)
  local text, complaint = draw(opts, ("dumb %d,%d"):format(width, height), true)
  return text and text:gsub("^\f", ""), complaint
end

return gnuplot
