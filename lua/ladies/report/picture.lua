--- A plot as an SVG picture that stands alone, drawn without another program: its title, the chart
-- of ladies.report.svg and the key, on white.

local svg = require "ladies.report.svg"

local WIDTH, CHART, TITLE, ROW = 480, 300, 24, 18   -- pixels
local KEY = 240                                     -- of an entry of the key

-- The rules are for this picture alone, also within a page.
local STYLE = [[
<style>
.ladies-picture { background: #fff; max-width: 100%; font-family: sans-serif; }
.ladies-picture text { font-size: 12.5px; fill: #5b6670; stroke: none; }
.ladies-picture .title { font-size: 14px; font-weight: 600; fill: #1c2126; }
.ladies-picture line, .ladies-picture path { stroke: currentColor; fill: none; stroke-width: 1.8; }
.ladies-picture circle { fill: currentColor; }
.ladies-picture .grid { stroke: #d9dee3; stroke-width: 1; }
.ladies-picture .axis { stroke: #5b6670; stroke-width: 1; }
.ladies-picture .band { fill: currentColor; fill-opacity: .16; stroke: none; }
.ladies-picture .dashed { stroke-dasharray: 5 4; stroke-width: 1.4; }
.ladies-picture .c1 { color: #0072b2; } .ladies-picture .c2 { color: #d55e00; }
.ladies-picture .c3 { color: #00835f; } .ladies-picture .c4 { color: #b4558c; }
.ladies-picture .c5 { color: #2f8fc4; } .ladies-picture .c6 { color: #b87a00; }
.ladies-picture .c7 { color: #877b00; } .ladies-picture .c8 { color: #444b52; }
</style>]]

-- Entries of the key below the chart, two in a row, and the height that they take.
local function key_of(series)
  local parts, n = {}, 0
  for i, one in ipairs(series) do
    if one.name ~= "" then
      local x, y = 12 + n % 2 * KEY, TITLE + CHART + n // 2 * ROW
      parts[#parts + 1] = ('<g class="c%d"><line x1="%d" x2="%d" y1="%d" y2="%d"/></g>'):format(
        ((one.colour or i) - 1) % svg.COLOURS + 1, x, x + 22, y + 8, y + 8)
      parts[#parts + 1] = ('<text x="%d" y="%d">%s</text>'):format(x + 30, y + 12,
        svg.text(one.name))
      n = n + 1
    end
  end
  return table.concat(parts, "\n"), (n + 1) // 2 * ROW + 6
end

--- The text of the picture of a plot, of the options of ladies.plot as svg.chart takes them; nil
-- where there is nothing to draw.
return function(opts)
  local chart = svg.chart(opts)
  if not chart then return nil end
  local key, key_height = key_of(opts.series)
  local height = TITLE + CHART + key_height
  return table.concat({
    ('<svg xmlns="http://www.w3.org/2000/svg" class="ladies-picture" viewBox="0 0 %d %d" '
      .. 'width="%d" height="%d">'):format(WIDTH, height, WIDTH, height),
    STYLE,
    ('<rect width="%d" height="%d" fill="#fff"/>'):format(WIDTH, height),
    ('<text class="title" x="%d" y="17" text-anchor="middle">%s</text>'):format(WIDTH // 2,
      svg.text(opts.title or "")),
    ('<svg y="%d" width="%d" height="%d">'):format(TITLE, WIDTH, CHART),
    chart, "</svg>", key, "</svg>",
  }, "\n")
end
