--- The colours of pictures: eight that stay apart for the colour-blind (after Okabe and Ito), on
-- light and on dark pages. In pages they are the classes c1 to c8, whose `color` the parts of a
-- picture take; what else a picture needs has names too.

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

--- The number of colours of series.
palette.N = 8

--- The number of the colour of the series with this number.
function palette.of(series) return (series - 1) % palette.N + 1 end

--- The colours of series on white, in their order.
function palette.light()
  return tables.map(table.move(COLOURS, 5, #COLOURS, 1, {}), function(one) return one[2] end)
end

local function variables(column)
  return table.concat(tables.map(COLOURS, function(one)
    return ("--%s: %s;"):format(one[1], one[column])
  end), " ")
end

--- The declarations of the colours as variables of CSS, for a light page and for a dark one.
palette.LIGHT, palette.DARK = variables(2), variables(3)

--- The rules of CSS that give the classes c1 to c8 below a selector, "" for all, their colours.
function palette.classes(root)
  local parts = {}
  for i = 1, palette.N do parts[i] = ("%s .c%d { color: var(--c%d); }\n"):format(root, i, i) end
  return table.concat(parts)
end

--- The rules of CSS by which pictures below `root`, a selector, are drawn.
function palette.rules(root)
  return (([[
ROOT text { font-size: 12.5px; fill: var(--soft); stroke: none; }
ROOT .value { fill: var(--ink); }
ROOT line, ROOT path { stroke: currentColor; fill: none; stroke-width: 1.8; }
ROOT circle, ROOT .mark, ROOT rect { fill: currentColor; }
ROOT .mark { stroke-width: 1.2; }
ROOT .open { fill: none; stroke-width: 1.8; }
ROOT .grid { stroke: var(--line); stroke-width: 1; }
ROOT .axis, ROOT .zero { stroke: var(--soft); stroke-width: 1; }
ROOT .range { stroke-width: 2.4; }
ROOT .edge { stroke: var(--soft); stroke-width: 1; stroke-opacity: .55; }
ROOT .band { fill: currentColor; fill-opacity: .16; stroke: none; }
ROOT .dashed { stroke-dasharray: 5 4; stroke-width: 1.4; }
]]):gsub("ROOT", root))
end

return palette
