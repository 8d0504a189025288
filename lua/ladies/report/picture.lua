--- A plot as an SVG picture that stands alone, drawn without another program: its title, the chart
-- of ladies.report.chart and the key, in light and in dark as the reader's system or notebook is.

local chart_of = require "ladies.report.chart"
local palette = require "ladies.report.palette"
local presentation = require "ladies.report.presentation"
local svg = require "ladies.report.svg"

local WIDTH, HEIGHT, TITLE, ROW = 640, 400, 24, 18   -- pixels
local KEY = 200                                      -- of an entry of the key, at least

-- The rules by which the picture is drawn below a selector.
local function rules(root)
  return presentation.rules(root) .. palette.classes(root)
end

-- Themes for browsers and notebooks, on top of the attributes that each element has of its own; for
-- this picture alone, also within a page. All of it is bound to a theme, so that a program without
-- variables of CSS, which would take their places for black, has nothing to apply.
local STYLE = ([[
<style>
@media screen { .ladies-picture { max-width: 100%%; height: auto; } }
@media (prefers-color-scheme: dark) {
.ladies-picture { %s }
%s}
[data-jp-theme-light="true"] .ladies-picture { %s }
[data-jp-theme-light="false"] .ladies-picture { %s }
%s</style>]]):format(palette.DARK, rules ".ladies-picture", palette.LIGHT, palette.DARK,
  rules "[data-jp-theme-light] .ladies-picture")

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
  local drawn = presentation.written(table.concat({
    ('<rect class="back" width="%d" height="%d"/>'):format(width, height + key_height),
    ('<text class="title" x="%d" y="17" text-anchor="middle">%s</text>'):format(width // 2,
      svg.text(opts.title or "")),
    ('<svg y="%d" width="%d" height="%d">'):format(TITLE, width, height - TITLE),
    chart, "</svg>", key,
  }, "\n"))
  local head = ('<svg xmlns="http://www.w3.org/2000/svg" class="ladies-picture" '
    .. 'viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif">'):format(width,
    height + key_height, width, height + key_height)
  return table.concat({head, STYLE, drawn, "</svg>"}, "\n")
end
