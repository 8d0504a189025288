--- Draws a plot as an SVG picture for a file of its own, without another program: its title, the
-- chart of ladies.report.chart and the key. It is light or dark as the reader's system or notebook
-- is.

local chart_of = require "ladies.report.chart"
local palette = require "ladies.report.palette"
local presentation = require "ladies.report.presentation"
local svg = require "ladies.report.svg"

local WIDTH, HEIGHT, TITLE, ROW = 640, 400, 24, 18   -- pixels
local KEY = 200                                      -- of an entry of the key, at least

-- Returns the CSS rules for the parts of the picture, as they apply below a selector.
local function rules(root)
  return presentation.rules(root) .. palette.classes(root)
end

-- The style sheet that has the light and the dark theme, for browsers and notebooks, in place of
-- the colours in the elements' own attributes. It applies to this picture alone, also within a
-- page. Every colour rule is below the selector of a theme, so that a program without support for
-- CSS variables, which would draw black in their place, applies none.
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

-- Returns the key below the chart as SVG, with several entries in a row, and its height.
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

--- picture(opts) -> text: returns the SVG picture of a plot from the options of ladies.plot; nil
-- where there is nothing to draw. Its size, without the key, is opts.width x opts.height pixels.
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
