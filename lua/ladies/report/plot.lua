--- Plots through gnuplot, as SVG or PNG files or as text for a terminal. Without gnuplot nothing is
-- drawn, and the caller is told so.

local core = require "ladies_core"
local drawable = require "ladies.report.drawable"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local plot = {}

-- Colours that stay apart for the colour-blind (Okabe and Ito), black last.
local COLOURS = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#b0a000",
  "#000000"}

--- Whether gnuplot is installed.
function plot.available() return core.process.exists "gnuplot" end

-- A text as gnuplot shows it: in double quotes, with all that is no letter or blank as the number
-- of its byte, so that nothing in it can be taken for more than text. (Digits too: gnuplot would
-- take them for more of the number before.)
local function quoted(text)
  return '"' .. core.printable(text):gsub("[^%a ]", function(c)
    return ("\\%03o"):format(c:byte())
  end) .. '"'
end

local SPEC = {
  series = "table",
  title = {"string", ""},
  x = {"string", ""},
  y = {"string", ""},
  log = {"none|x|y|xy", "none"},
  x_range = "table or nil",
  x_ticks = "array of numbers or nil",
  y_range = "table or nil",
  width = {"positive integer", 720},
  height = {"positive integer", 420},
}

local SERIES = {
  name = "string",
  points = "table",
  axis = {"integer in [1, 2]", 1},
  style = {"lines|points|both|dashed", "lines"},
  spread = {"band|bars", "band"},
  colour = "positive integer or nil",
}

-- The series as they are when they are drawn; an error names what is wrong in one.
local function checked_series(where, list)
  return tables.map(list, function(given)
    return options.check(where .. ": a series", given, SERIES)
  end)
end

--- plot.checked(where, options) -> options: those of a plot with all defaults, or the error that
-- drawing it would raise, in the name of `where`.
function plot.checked(where, given)
  local opts = options.check(where, given, SPEC)
  opts.series = checked_series(where, opts.series)
  return opts
end

local function data_block(name, points)
  local lines = {"$" .. name .. " << EOD"}
  for _, p in ipairs(points) do
    lines[#lines + 1] = ("%.9g %.9g %.9g %.9g"):format(p[1], p[2], p[3], p[4])
  end
  lines[#lines + 1] = "EOD"
  return table.concat(lines, "\n")
end

local STYLES = {
  lines = "with lines lw 2", points = "with points pt 7 ps 0.6",
  both = "with linespoints lw 2 pt 7 ps 0.6", dashed = "with lines lw 1.5 dt 2",
}
-- Text has no widths, dashes or colours.
local TEXT_STYLES = {
  lines = "with lines", points = "with points", both = "with linespoints", dashed = "with dots",
}

-- gnuplot's words for one series, whose points are the block $s<i>: its spread, then its line.
local function curves_of(series, i, text)
  local axes = ("axes x1y%d"):format(series.axis)
  local title = series.name == "" and "notitle" or "title " .. quoted(series.name)
  if text then
    return {("$s%d using 1:2 %s %s %s"):format(i, axes, TEXT_STYLES[series.style], title)}
  end
  local colour = ("lc rgb '%s'"):format(COLOURS[((series.colour or i) - 1) % #COLOURS + 1])
  local list = {}
  if series.points[1].spread then
    list[1] = ("$s%d using 1:%s %s %s notitle"):format(i, series.spread == "band" and "3:4 with "
      .. "filledcurves fs transparent solid 0.18 noborder" or "2:3:4 with yerrorbars pt 0",
      colour, axes)
  end
  list[#list + 1] = ("$s%d using 1:2 %s %s %s %s"):format(i, STYLES[series.style], colour, axes,
    title)
  return list
end

local function range_of(name, range)
  local function bound(x) return x and ("%.9g"):format(x) or "*" end
  return range and ("set %srange [%s:%s]"):format(name, bound(range[1]), bound(range[2])) or nil
end

-- gnuplot's commands that draw the plot on a terminal of it into a file; nil where there is nothing
-- to draw. As `text` it has no colours.
local function commands(where, opts, terminal, output, text)
  local log_x, log_y = opts.log:find "x" ~= nil, opts.log:find "y" ~= nil
  local list = checked_series(where, opts.series)
  drawable.keep(list, log_x, log_y)
  local parts, curves = {}, {}
  for i, series in ipairs(list) do
    if #series.points > 0 then
      parts[#parts + 1] = data_block("s" .. i, series.points)
      local own = curves_of(series, i, text)
      tables.append(curves, own)
      if series.axis == 2 then opts.y2 = series.name end
    end
  end
  if #curves == 0 then return nil end
  local function add(line) parts[#parts + 1] = line end
  add("set terminal " .. terminal)
  add("set output " .. quoted(output))
  -- An entry higher than it must be, so that the key stays clear of the axis' name.
  add "set key outside bottom center horizontal height 1 noenhanced"
  add(("set title %s noenhanced\nset xlabel %s noenhanced\nset ylabel %s noenhanced"):format(
    quoted(opts.title), quoted(opts.x), quoted(opts.y)))
  if opts.log ~= "none" then add("set logscale " .. opts.log) end
  for _, axis in ipairs{log_x and "x", log_y and "y"} do
    if axis then add(("set format %s '%%g'"):format(axis)) end
  end
  add(range_of("x", opts.x_range))
  add(range_of("y", opts.y_range))
  if opts.x_ticks then add(("set xtics (%s)"):format(table.concat(opts.x_ticks, ", "))) end
  if not text then add "set grid lc rgb '#e0e0e0'" end
  if opts.y2 then
    add(("set y2tics\nset ytics nomirror\nset y2label %s noenhanced"):format(quoted(opts.y2)))
  end
  add("plot " .. table.concat(curves, ", "))
  return table.concat(parts, "\n") .. "\n"
end

-- A new temporary file, removed when the variable that holds it goes.
local function temporary()
  local path = os.tmpname()
  return setmetatable({path = path}, {__close = function() os.remove(path) end})
end

-- In characters and lines.
local TEXT_SPEC = tables.merged(SPEC,
  {width = {"positive integer", 96}, height = {"positive integer", 28}})

-- Runs gnuplot on the plot's commands; returns what it drew, or nil and why there is no plot. It
-- reads a script and writes a picture of ours, whatever the user's file is called.
local function draw(where, given, terminal_of, text)
  local opts = options.check(where, given, text and TEXT_SPEC or SPEC)
  if not plot.available() then return nil, "gnuplot is not installed" end
  local script <close> = temporary()
  local picture <close> = temporary()
  local log <close> = temporary()
  local list = commands(where, opts, terminal_of(opts), picture.path, text)
  if not list then return nil, "there is nothing to draw" end
  core.file.write(script.path, list)
  local process <close> = core.process.start({"gnuplot", "-d", script.path}, {log = log.path})
  if process:wait() == 0 then return core.file.read(picture.path) end
  return nil, "gnuplot: " .. core.file.read(log.path)
end

-- Draws into the file at `path`, which appears whole or not at all.
local function draw_file(where, path, given, terminal_of)
  options.value(where, "the path", path, "string")
  local picture, complaint = draw(where, given, terminal_of)
  if not picture then return nil, complaint end
  core.file.write(path, picture)
  return true
end

--- plot.svg(path, {series =, title =, x =, y =, ...}): draws into an SVG file.
-- series   array of {name = string, points = {{x, y [, low, high]}, ...}, ...}; "" is a series that
--          the key leaves out; with
--          axis     1 (left) or 2 (right)
--          style    "lines", "points", "both" or "dashed"
--          spread   how low and high are drawn where the points have them: "band" or "bars"
--          colour   a number, the same for what belongs together (the series' own number)
-- x, y     what the axes are called
-- log      the logarithmic axes: "none", "x", "y" or "xy". Points that are not positive there, and
--          those that are not finite, are left out.
-- x_range, y_range   {low, high}; a bound that is nil (false) follows from the points
-- x_ticks  where the x axis has its numbers (by default gnuplot decides)
-- width, height      in pixels
-- Returns true, or nil and why there is no picture.
function plot.svg(path, given)
  return draw_file("ladies.plot.svg", path, given, function(opts)
    return ("svg size %d,%d background 'white' font 'sans,12'"):format(opts.width, opts.height)
  end)
end

--- plot.png(path, {series =, ...}): the same as a PNG file, of twice as many pixels each way, so
-- that it is sharp on paper. The options are those of plot.svg.
function plot.png(path, given)
  return draw_file("ladies.plot.png", path, given, function(opts)
    return ("pngcairo size %d,%d background 'white' font 'sans,12' fontscale 2 linewidth 2")
      :format(2 * opts.width, 2 * opts.height)
  end)
end

--- plot.files(base, {series =, ...}): the plot as base.svg and base.png; returns the names of the
-- files that were written, without their folder, and why there is none where there is none. The
-- options are those of plot.svg.
function plot.files(base, given)
  local files = {}
  for _, kind in ipairs{"svg", "png"} do
    local path = base .. "." .. kind
    local drawn, complaint = plot[kind](path, given)
    if not drawn then return files, complaint end
    files[#files + 1] = path:match "[^/]*$"
  end
  return files
end

--- plot.text({series =, ..., width = 96, height = 28}): the plot as text for a terminal, of so many
-- columns and lines, or nil and why there is none. The other options are those of plot.svg; spreads
-- are left out.
function plot.text(given)
  local text, complaint = draw("ladies.plot.text", given, function(opts)
    return ("dumb %d,%d"):format(opts.width, opts.height)
  end, true)
  return text and text:gsub("^\f", ""), complaint
end

return plot
