--- Makes the parts of pictures in SVG: texts, marks and small bars. They have classes instead of
-- colours; the page's style (ladies.report.palette) gives these their colours, on light and dark
-- pages.

local core = require "ladies_core"
local palette = require "ladies.report.palette"

local svg = {}

-- Characters that would be markup in texts and attributes, with the entities that are written for
-- them.
local ENTITIES = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
  ["'"] = "&#39;"}

--- Escapes a text for HTML and SVG, also within an attribute, so that nothing in it is taken for
-- markup.
function svg.text(text)
  return (core.printable(tostring(text)):gsub("[&<>\"']", ENTITIES))
end

-- The marks except the first, which is a circle: their CSS class and their path around the point 0,
-- 0.
local MARKS = {
  {"mark", "m-3.2 -3.2h6.4v6.4h-6.4z"}, {"mark", "m0 -4.2l4.2 7.4h-8.4z"},
  {"open", "m-3.4 -3.4l6.8 6.8m0 -6.8l-6.8 6.8"}, {"mark", "m0 -4.8l4 4.8l-4 4.8l-4 -4.8z"},
  {"open", "m0 -4.4v8.8m-4.4 -4.4h8.8"}, {"mark", "m0 4.2l4.2 -7.4h-8.4z"},
  {"open", "m-3.2 -3.2h6.4v6.4h-6.4z"},
}

--- Returns the mark of the series with this number at a place; marks make series differ without
-- colour. Marks and colours together distinguish 64 series.
function svg.mark(series, x, y)
  local mark = MARKS[(series - 1 + (series - 1) // palette.N) % (#MARKS + 1)]
  if not mark then return ('<circle cx="%.1f" cy="%.1f" r="3.5"/>'):format(x, y) end
  return ('<path class="%s" d="M%.1f %.1f%s"/>'):format(mark[1], x, y, mark[2])
end

--- Returns what stands for the series with this number in a key: a line, its mark, or both, as its
-- style is.
function svg.key(series, x, y, style)
  local line = ('<line%s x1="%d" x2="%d" y1="%d" y2="%d"/>'):format(
    style == "dashed" and ' class="dashed"' or "", x, x + 22, y, y)
  local mark = svg.mark(series, x + 11, y)
  return ('<g class="c%d">%s%s</g>'):format(palette.of(series),
    (style == "points" or style == "bars") and "" or line, style == "dashed" and "" or mark)
end

local BAR, BAR_HEIGHT = 120, 14

--- Draws an interval {mean =, low =, high =} as a small bar on a scale from `least` to `most`, with
-- a mark at 0 where that is within; colour: 1 to 8. Nothing where a number is not finite.
function svg.bar(interval, least, most, colour)
  for _, x in ipairs{interval.mean, interval.low, interval.high, least, most} do
    if x ~= x or math.abs(x) == math.huge then return "" end
  end
  local function place(x)
    return 4 + (BAR - 8) * (most > least and (x - least) / (most - least) or 0.5)
  end
  local parts = {}
  local function add(text, ...) parts[#parts + 1] = text:format(...) end
  add('<svg class="bar c%d" viewBox="0 0 %d %d" aria-hidden="true">', palette.of(colour), BAR,
    BAR_HEIGHT)
  add('<line class="grid" x1="4" x2="%d" y1="7" y2="7"/>', BAR - 4)
  if least <= 0 and most >= 0 then
    add('<line class="zero" x1="%.1f" x2="%.1f" y1="1" y2="13"/>', place(0), place(0))
  end
  add('<line class="range" x1="%.1f" x2="%.1f" y1="7" y2="7"/>', place(interval.low),
    place(interval.high))
  add('<circle cx="%.1f" cy="7" r="3.2"/></svg>', place(interval.mean))
  return table.concat(parts)
end

return svg
