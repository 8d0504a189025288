--- A plot as an SVG picture that stands alone, drawn without another program: its title, the chart
-- of ladies.report.chart and the key, in light and in dark as the reader's system or notebook is.

local chart_of = require "ladies.report.chart"
local palette = require "ladies.report.palette"
local svg = require "ladies.report.svg"

local WIDTH, HEIGHT, TITLE, ROW = 640, 400, 24, 18   -- pixels
local KEY = 200                                      -- of an entry of the key, at least

-- The rules are for this picture alone, also within a page.
local STYLE = ([[
<style>
.ladies-picture { %s max-width: 100%%; height: auto; background: var(--card); color: var(--ink);
  font-family: sans-serif; }
@media (prefers-color-scheme: dark) { .ladies-picture { %s } }
[data-jp-theme-light="true"] .ladies-picture { %s }
[data-jp-theme-light="false"] .ladies-picture { %s }
%s%s.ladies-picture .back { fill: var(--card); }
.ladies-picture .title { font-size: 14px; font-weight: 600; fill: var(--ink); }
</style>]]):format(palette.LIGHT, palette.DARK, palette.LIGHT, palette.DARK,
  palette.rules ".ladies-picture", palette.classes ".ladies-picture")

-- Entries of the key below the chart, some in a row, and the height that they take.
local function key_of(series, width, top)
  local parts, n, in_a_row = {}, 0, math.max(1, width // KEY)
  for i, one in ipairs(series) do
    if one.name ~= "" then
      local x, y = 12 + n % in_a_row * (width // in_a_row), top + n // in_a_row * ROW
      parts[#parts + 1] = svg.key(one.colour or i, x, y + 8, one.style)
      parts[#parts + 1] = ('<text x="%d" y="%d">%s</text>'):format(x + 30, y + 12,
        svg.text(one.name))
      n = n + 1
    end
  end
  return table.concat(parts, "\n"), (n + in_a_row - 1) // in_a_row * ROW + 6
end

--- picture(opts) -> text: the picture of a plot, of the options of ladies.plot; nil where there is
-- nothing to draw. Its size, without the key, is opts.width x opts.height pixels.
return function(opts)
  local width, height = opts.width or WIDTH, opts.height or HEIGHT
  local chart = chart_of(opts, width, height - TITLE)
  if not chart then return nil end
  local key, key_height = key_of(opts.series or {}, width, height)
  return table.concat({
    ('<svg xmlns="http://www.w3.org/2000/svg" class="ladies-picture" viewBox="0 0 %d %d" '
      .. 'width="%d" height="%d">'):format(width, height + key_height, width, height + key_height),
    STYLE,
    ('<rect class="back" width="%d" height="%d"/>'):format(width, height + key_height),
    ('<text class="title" x="%d" y="17" text-anchor="middle">%s</text>'):format(width // 2,
      svg.text(opts.title or "")),
    ('<svg y="%d" width="%d" height="%d">'):format(TITLE, width, height - TITLE),
    chart, "</svg>", key, "</svg>",
  }, "\n")
end
