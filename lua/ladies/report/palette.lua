--- Defines the colours of pictures: eight that the colour-blind can tell apart (after Okabe and
-- Ito), for light and for dark pages. In pages they are the classes c1 to c8, whose `color` the
-- parts of a picture take; what else a picture needs has names too.

local tables = require "ladies.base.tables"

local palette = {}

-- The names of the colours and their values on a light page and on a dark one.
local COLOURS = {
  {"card", "#ffffff", "#1d2226"}, {"ink", "#1c2126", "#e6e9ec"}, {"soft", "#5b6670", "#a0abb5"},
  {"line", "#d9dee3", "#343c44"},
  {"c1", "#0072b2", "#56b4e9"}, {"c2", "#d55e00", "#ff8a45"}, {"c3", "#00835f", "#2fc79b"},
  {"c4", "#b4558c", "#e39cc4"}, {"c5", "#2f8fc4", "#9cd3f3"}, {"c6", "#b87a00", "#f0b13c"},
  {"c7", "#877b00", "#d6ca4b"}, {"c8", "#444b52", "#c4ccd3"},
}

--- The number of colours that series can have.
palette.N = 8

--- Returns the number of the colour of a series; after the last colour the first is used again.
function palette.of(series) return (series - 1) % palette.N + 1 end

local function variables(column)
  return table.concat(tables.map(COLOURS, function(one)
    return ("--%s: %s;"):format(one[1], one[column])
  end), " ")
end

--- Declares the colours as variables of CSS, for a light page and for a dark one.
palette.LIGHT, palette.DARK = variables(2), variables(3)

--- Returns the CSS rules that give the classes c1 to c8 their colours below a selector ("" for
-- everywhere).
function palette.classes(root)
  local parts = {}
  for i = 1, palette.N do parts[i] = ("%s .c%d { color: var(--c%d); }\n"):format(root, i, i) end
  return table.concat(parts)
end

--- Returns the value that the colour with this name has on a light page.
function palette.on_white(name)
  for _, one in ipairs(COLOURS) do
    if one[1] == name then return one[2] end
  end
end

return palette
