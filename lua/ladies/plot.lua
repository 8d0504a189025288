--- Plots through gnuplot, as SVG files or as text for a terminal. Without gnuplot nothing is drawn,
-- and the caller is told so.

local core = require "ladies_core"
local options = require "ladies.options"

local plot = {}

-- Whether the program can be run; asked once.
local present

--- Whether gnuplot is installed.
function plot.available()
  if present == nil then
    present = os.execute "command -v gnuplot >/dev/null 2>&1" == true
  end
  return present
end

-- A string in gnuplot's single quotes.
local function quoted(text)
  return "'" .. text:gsub("'", "''") .. "'"
end

local function data_block(name, points)
  local lines = {"$" .. name .. " << EOD"}
  for _, point in ipairs(points) do
    lines[#lines + 1] = ("%.9g %.9g"):format(point[1], point[2])
  end
  lines[#lines + 1] = "EOD"
  return table.concat(lines, "\n")
end

local SPEC = {
  series = "table",
  title = {"string", ""},
  x = {"string", ""},
  y = {"string", ""},
  width = {"positive integer", 720},
  height = {"positive integer", 420},
}

-- gnuplot's commands for the plot on a terminal of it.
local function commands(opts, terminal, output)
  local parts, curves = {}, {}
  for i, series in ipairs(opts.series) do
    parts[i] = data_block("s" .. i, series.points)
    curves[i] = ("$s%d using 1:2 with lines axes x1y%d title %s"):format(i, series.axis or 1,
      quoted(series.name))
    if series.axis == 2 then opts.y2 = series.name end
  end
  parts[#parts + 1] = "set terminal " .. terminal
  if output then parts[#parts + 1] = "set output " .. quoted(output) end
  parts[#parts + 1] = "set key outside bottom horizontal"
  parts[#parts + 1] = ("set title %s noenhanced\nset xlabel %s\nset ylabel %s"):format(
    quoted(opts.title), quoted(opts.x), quoted(opts.y))
  if opts.y2 then
    parts[#parts + 1] = ("set y2tics\nset ytics nomirror\nset y2label %s"):format(quoted(opts.y2))
  end
  parts[#parts + 1] = "plot " .. table.concat(curves, ", ")
  return table.concat(parts, "\n") .. "\n"
end

-- Runs gnuplot on a file of commands and returns what it printed, or nil and its complaint.
local function run(text)
  local script = os.tmpname()
  core.file.write(script, text)
  local pipe = io.popen(("gnuplot '%s' 2>&1"):format(script))
  local printed = pipe:read "a"
  local ok = pipe:close()
  os.remove(script)
  if ok then return printed end
  return nil, printed
end

--- plot.svg(path, {series =, title =, x =, y =}): draws lines into an SVG file.
-- series  array of {name = string, points = {{x, y}, ...}, axis = 1 (left) or 2 (right)}
-- Returns true, or nil and why there is no picture.
function plot.svg(path, given)
  local opts = options.check("ladies.plot.svg", given, SPEC)
  if not plot.available() then return nil, "gnuplot is not installed" end
  local terminal = ("svg size %d,%d background 'white' font 'sans,12'"):format(opts.width,
    opts.height)
  local printed, complaint = run(commands(opts, terminal, path))
  return printed and true, complaint
end

--- plot.text({series =, ..., width = columns, height = lines}): the plot as text for a terminal, or
-- nil and why there is none. The options are those of plot.svg.
function plot.text(given)
  local opts = options.check("ladies.plot.text", given, SPEC)
  if not plot.available() then return nil, "gnuplot is not installed" end
  return run(commands(opts, ("dumb %d,%d"):format(opts.width, opts.height)))
end

return plot
