--- Defines how the parts of a picture look, for pages as rules of CSS, and for pictures in files of
-- their own as attributes of each element, which every program that shows SVG understands (many
-- ignore style sheets, or their variables, and would draw all of it black).

local palette = require "ladies.report.palette"

local presentation = {}

-- The style of each kind of element: names of elements and, with a dot, classes, then their
-- properties. Rules further down win, as in CSS, where a class outweighs an element. "own" is the
-- colour of the series; other names of colours are those of the palette.
local RULES = {
  {{"text"}, {"font-size", "12.5px"}, {"fill", "soft"}, {"stroke", "none"}},
  {{"line", "path"}, {"stroke", "own"}, {"fill", "none"}, {"stroke-width", "1.8"}},
  {{"circle", "rect"}, {"fill", "own"}},
  {{".value"}, {"fill", "ink"}},
  {{".label"}, {"fill", "ink"}, {"stroke", "card"}, {"stroke-width", "5"},
    {"stroke-linejoin", "round"}, {"paint-order", "stroke"}},
  {{".leader"}, {"stroke", "soft"}, {"stroke-width", "1"}},
  {{".mark"}, {"fill", "own"}, {"stroke-width", "1.2"}},
  {{".open"}, {"fill", "none"}, {"stroke-width", "1.8"}},
  {{".grid"}, {"stroke", "line"}, {"stroke-width", "1"}},
  {{".axis", ".zero"}, {"stroke", "soft"}, {"stroke-width", "1"}},
  {{".range"}, {"stroke-width", "2.4"}},
  {{".edge"}, {"stroke", "soft"}, {"stroke-width", "1"}, {"stroke-opacity", ".55"}},
  {{".band"}, {"fill", "own"}, {"fill-opacity", ".16"}, {"stroke", "none"}},
  {{".dashed"}, {"stroke-dasharray", "5 4"}, {"stroke-width", "1.4"}},
  {{".back"}, {"fill", "card"}},
  {{".title"}, {"font-size", "14px"}, {"font-weight", "600"}, {"fill", "ink"}},
}

local function in_css(value)
  if value == "own" then return "currentColor" end
  return palette.on_white(value) and ("var(--%s)"):format(value) or value
end

--- Returns the CSS rules for pictures below `root`, a selector. (Series have their colours by
-- palette.classes.)
function presentation.rules(root)
  local lines = {}
  for i, rule in ipairs(RULES) do
    local selectors, properties = {}, {}
    for k, name in ipairs(rule[1]) do selectors[k] = root .. " " .. name end
    for k = 2, #rule do
      properties[k - 1] = ("%s: %s;"):format(rule[k][1], in_css(rule[k][2]))
    end
    lines[i] = ("%s { %s }"):format(table.concat(selectors, ", "), table.concat(properties, " "))
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Returns the properties of an element with this name and class as SVG attributes; `own` is the
-- colour of its series.
local function attributes_of(name, class, own)
  local values, order = {}, {}
  for _, rule in ipairs(RULES) do
    for _, selector in ipairs(rule[1]) do
      if selector == name or selector == "." .. class then
        for k = 2, #rule do
          local property, value = rule[k][1], rule[k][2]
          if not values[property] then order[#order + 1] = property end
          values[property] = value == "own" and own or palette.on_white(value) or value
        end
      end
    end
  end
  for i, property in ipairs(order) do
    order[i] = (' %s="%s"'):format(property, values[property])
  end
  return table.concat(order)
end

--- presentation.written(svg) -> text: returns SVG elements with their properties on a light page
-- written as attributes.
function presentation.written(svg)
  local owners = {}        -- the colours of the elements around the one that is read
  return (svg:gsub("<(/?)(%a+)([^<>]-)(/?)>", function(is_end, name, attributes, is_empty)
    if is_end ~= "" then
      if name == "g" or name == "svg" then table.remove(owners) end
      return nil
    end
    local class = attributes:match ' class="([^"]*)"' or ""
    local own = palette.on_white(class:match "%f[%w]c%d%f[%W]") or owners[#owners]
      or palette.on_white "ink"
    if (name == "g" or name == "svg") and is_empty == "" then owners[#owners + 1] = own end
    return ("<%s%s%s%s>"):format(name, attributes, attributes_of(name, class, own), is_empty)
  end))
end

return presentation
