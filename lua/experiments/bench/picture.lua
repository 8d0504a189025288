--- Draws percentages as bars in an SVG file: with attributes, which every program that shows SVG
-- understands, and on top of them a theme for dark pages.

local svg = require "ladies.report.svg"

local LEFT, WIDTH, ROW, TOP, BOTTOM, MOST = 365, 420, 17, 34, 26, 150

local STYLE = [[<style>
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .bar { fill: #56b4e9 } .spread { stroke: #ddd } .line { stroke: #555 }
}
</style>]]

-- Returns the x of a percentage; those beyond the right end are drawn there.
local function x_of(percent)
  return LEFT + WIDTH * math.min(MOST, math.max(0, percent)) / MOST
end

local function add(parts, text, ...) parts[#parts + 1] = text:format(...) end

-- Lines at 0, 50, ... percent.
local function add_scale(parts, bottom)
  for percent = 0, MOST, 50 do
    local x = x_of(percent)
    add(parts, '<line class="line" stroke="#bbb" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>', x, x,
      TOP - 6, bottom)
    add(parts, '<text x="%.1f" y="%d" text-anchor="middle">%d %%</text>', x, bottom + 16, percent)
  end
end

local function add_bar(parts, i, bar)
  local y = TOP + (i - 1) * ROW
  add(parts, "<g><title>%s: %.1f %% (%.1f to %.1f)</title>", svg.text(bar.name), bar.median,
    bar.low, bar.high)
  add(parts, '<text x="%d" y="%d" text-anchor="end">%s</text>', LEFT - 8, y + 11,
    svg.text(bar.name))
  add(parts, '<rect class="bar" fill="#0072b2" x="%d" y="%d" width="%.1f" height="%d"/>', LEFT, y,
    x_of(bar.median) - LEFT, ROW - 5)
  add(parts, '<line class="spread" stroke="#333" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/></g>',
    x_of(bar.low), x_of(bar.high), y + (ROW - 5) / 2, y + (ROW - 5) / 2)
end

--- picture(title, bars) -> text of an SVG file. bars: array of {name =, median =, low =, high =}
-- in percent; those above 150 % end there.
return function(title, bars)
  local bottom = TOP + #bars * ROW
  local parts = {("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
    .. 'font-family="sans-serif" font-size="12" fill="#333">'):format(LEFT + WIDTH + 30,
    bottom + BOTTOM), STYLE}
  add(parts, '<text x="8" y="18">%s</text>', svg.text(title))
  add_scale(parts, bottom)
  for i, bar in ipairs(bars) do add_bar(parts, i, bar) end
  parts[#parts + 1] = "</svg>\n"
  return table.concat(parts, "\n")
end
